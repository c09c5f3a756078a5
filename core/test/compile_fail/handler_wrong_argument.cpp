// expect: add<T>: the handler must take topic T's message_type, alone or with a const shove::delivery&
#include "bare_backend.hpp"

void use(shove::consumer_group<bare>& group) {
#ifdef FIXED
    group.add<notes>([](const std::string&) { return shove::ack; });
#else
    group.add<notes>([](const int&) { return shove::ack; });
#endif
}
