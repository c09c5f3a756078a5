// expect: add<T>: the handler must take topic T's message_type
#include "bare_backend.hpp"

void use(shove::consumer_group<bare>& group) {
#ifdef FIXED
    group.add<notes>([](std::string&&) { return shove::ack; });
#else
    group.add<notes>([](std::string&) { return shove::ack; });
#endif
}
