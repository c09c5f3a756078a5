// expect: more than 16 hold tiers
#include <shove/topic.hpp>

#include <chrono>
#include <string>

using namespace std::chrono_literals;
constexpr shove::topology four(shove::topology t) {
    return t.hold(1s).hold(2s).hold(3s).hold(4s);
}

struct orders : shove::topic<std::string, shove::raw> {
#ifdef FIXED
    static constexpr auto topology = four(four(four(four(shove::topology("orders")))));
#else
    static constexpr auto topology = four(four(four(four(shove::topology("orders"))))).hold(1s);
#endif
};

template struct shove::detail::checked_topic<orders>;
