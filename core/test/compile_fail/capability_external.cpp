// expect: topic T is external\(\), and backend B cannot verify foreign queues
#include "bare_backend.hpp"

struct theirs : shove::topic<std::string, shove::raw> {
    static constexpr auto topology = shove::topology("theirs").external();
};

void use(const shove::broker<chosen>& broker) {
    broker.declare<theirs>();
}
