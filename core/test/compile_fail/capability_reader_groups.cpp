// expect: topic T is for_consumer_group\(\), and backend B has no reader groups
#include "bare_backend.hpp"

struct audit : shove::topic<std::string, shove::raw> {
    static constexpr auto topology = shove::topology("orders").for_consumer_group("audit");
};

void use(shove::consumer_group<chosen>& group) {
    group.add<audit>([](const std::string&) { return shove::ack; });
}
