// expect: add_broadcast<T>: topic T is no broadcast\(\); use add<T>
#include "bare_backend.hpp"

void use(shove::consumer_group<able>& group) {
    const auto handler = [](const std::string&) { return shove::ack; };
#ifdef FIXED
    group.add<notes>(handler);
#else
    group.add_broadcast<notes>(handler);
#endif
}
