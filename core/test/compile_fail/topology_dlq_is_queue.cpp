// expect: the dead-letter queue has the queue's own name
#include <shove/topic.hpp>

#include <string>

struct orders : shove::topic<std::string, shove::raw> {
#ifdef FIXED
    static constexpr auto topology = shove::topology("orders").dlq_named("dead-orders");
#else
    static constexpr auto topology = shove::topology("orders").dlq_named("orders");
#endif
};

template struct shove::detail::checked_topic<orders>;
