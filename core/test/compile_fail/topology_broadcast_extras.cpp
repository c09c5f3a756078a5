// expect: broadcast\(\) excludes dlq, hold, sequenced and for_consumer_group
#include <shove/topic.hpp>

#include <string>

struct orders : shove::topic<std::string, shove::raw> {
#ifdef FIXED
    static constexpr auto topology = shove::topology("orders").broadcast();
#else
    static constexpr auto topology = shove::topology("orders").broadcast().dlq();
#endif
};

template struct shove::detail::checked_topic<orders>;
