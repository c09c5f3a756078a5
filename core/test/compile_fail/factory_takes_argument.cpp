// expect: add_each<T>: the factory must be callable without arguments
#include "bare_backend.hpp"

void use(shove::consumer_group<bare>& group) {
#ifdef FIXED
    group.add_each<notes>([] { return [](const std::string&) { return shove::ack; }; });
#else
    group.add_each<notes>([](int) { return [](const std::string&) { return shove::ack; }; });
#endif
}
