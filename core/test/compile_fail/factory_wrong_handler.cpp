// expect: add_each<T>: the factory's handler must take topic T's message_type
#include "bare_backend.hpp"

void use(shove::consumer_group<bare>& group) {
#ifdef FIXED
    group.add_each<notes>([] { return [](const std::string&) { return shove::ack; }; });
#else
    group.add_each<notes>([] { return [](const shove::delivery&, int) { return shove::ack; }; });
#endif
}
