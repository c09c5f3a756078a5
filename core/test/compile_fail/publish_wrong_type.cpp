// expect: publish<T>: the message is not of topic T's message_type
#include "bare_backend.hpp"

void use(const shove::publisher<bare>& publisher) {
#ifdef FIXED
    publisher.publish<notes>("a text");
#else
    publisher.publish<notes>(42);
#endif
}
