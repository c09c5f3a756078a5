// expect: T is not a topic: derive it from shove::topic<Message>
#include <shove/topic.hpp>

#include <string>

struct orders : shove::topic<std::string, shove::raw> {
#ifdef FIXED
    static constexpr auto topology = shove::topology("orders");
#endif
};

template struct shove::detail::checked_topic<orders>;
