// expect: the queue name is empty
#include <shove/topic.hpp>

#include <string>

struct orders : shove::topic<std::string, shove::raw> {
#ifdef FIXED
    static constexpr auto topology = shove::topology("orders");
#else
    static constexpr auto topology = shove::topology("");
#endif
};

template struct shove::detail::checked_topic<orders>;
