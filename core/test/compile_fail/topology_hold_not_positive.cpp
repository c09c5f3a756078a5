// expect: a hold delay is under one millisecond
#include <shove/topic.hpp>

#include <chrono>
#include <string>

using namespace std::chrono_literals;

struct orders : shove::topic<std::string, shove::raw> {
#ifdef FIXED
    static constexpr auto topology = shove::topology("orders").hold(10ms).dlq();
#else
    static constexpr auto topology = shove::topology("orders").hold(10us).dlq();
#endif
};

template struct shove::detail::checked_topic<orders>;
