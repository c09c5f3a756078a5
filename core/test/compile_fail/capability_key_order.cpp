// expect: topic T is sequenced, and backend B cannot keep order per key
#include "bare_backend.hpp"

struct ordered : shove::topic<std::string, shove::raw> {
    static std::string sequence_key(const std::string& message) { return message; }
    static constexpr auto topology =
        shove::topology("ordered").sequenced(shove::sequence_failure::skip).hold(std::chrono::seconds(1)).dlq();
};

void use(const shove::broker<chosen>& broker) {
    broker.declare<ordered>();
}
