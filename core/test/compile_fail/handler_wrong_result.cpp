// expect: add<T>: the handler must return shove::outcome or asio::awaitable<shove::outcome>
#include "bare_backend.hpp"

void use(shove::consumer_group<bare>& group) {
#ifdef FIXED
    group.add<notes>([](const std::string&, const shove::delivery&) { return shove::ack; });
#else
    group.add<notes>([](const std::string&, const shove::delivery&) { return true; });
#endif
}
