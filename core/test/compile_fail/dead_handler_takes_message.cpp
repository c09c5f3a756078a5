// expect: add_dead<T>: the handler must take a const shove::dead_letter<T's message_type>&
#include "bare_backend.hpp"

void use(shove::consumer_group<bare>& group) {
#ifdef FIXED
    group.add_dead<notes>([](const shove::dead_letter<std::string>&) { return shove::ack; });
#else
    group.add_dead<notes>([](const std::string&) { return shove::ack; });
#endif
}
