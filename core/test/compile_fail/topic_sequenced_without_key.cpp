// expect: topic T is sequenced and has no key: give it
#include <shove/topic.hpp>

#include <chrono>
#include <string>

using namespace std::chrono_literals;

struct orders : shove::topic<std::string, shove::raw> {
    static constexpr auto topology = shove::topology("orders").hold(1s).dlq().sequenced(shove::sequence_failure::skip);
#ifdef FIXED
    static std::string sequence_key(const std::string& message) { return message; }
#endif
};

template struct shove::detail::checked_topic<orders>;
