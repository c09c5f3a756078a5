// expect: add_batch<T>: the handler must return shove::outcome, shove::outcomes or an asio::awaitable of one of them
#include "bare_backend.hpp"

void use(shove::consumer_group<bare>& group) {
#ifdef FIXED
    group.add_batch<notes>([](shove::batch<std::string>& all) { return shove::outcomes(all.size(), shove::ack); });
#else
    group.add_batch<notes>([](shove::batch<std::string>& all) { return all.size(); });
#endif
}
