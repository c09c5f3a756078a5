// expect: add<T>: topic T is a broadcast; use add_broadcast<T>
#include "bare_backend.hpp"

struct news : shove::topic<std::string, shove::raw> {
    static constexpr auto topology = shove::topology("news").broadcast();
};

void use(shove::consumer_group<able>& group) {
    const auto handler = [](const std::string&) { return shove::ack; };
#ifdef FIXED
    group.add_broadcast<news>(handler);
#else
    group.add<news>(handler);
#endif
}
