// expect: routing_shards\(\) must be at least 1
#include <shove/topic.hpp>

#include <chrono>
#include <string>

using namespace std::chrono_literals;
constexpr auto skip = shove::sequence_failure::skip;

struct orders : shove::topic<std::string, shove::raw> {
    static std::string sequence_key(const std::string& message) { return message; }
#ifdef FIXED
    static constexpr auto topology = shove::topology("orders").sequenced(skip).routing_shards(1).hold(1s).dlq();
#else
    static constexpr auto topology = shove::topology("orders").sequenced(skip).routing_shards(0).hold(1s).dlq();
#endif
};

template struct shove::detail::checked_topic<orders>;
