#include "pool.hpp"

#include <cstring>
#include <new>

namespace shove::rabbitmq_backend {

void* pool::zeroed(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    void* memory = amqp_pool_alloc(&pool_, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return std::memset(memory, 0, bytes);
}

std::string_view pool::joined(std::string_view a, std::string_view b) {
    auto text = make<char>(a.size() + b.size());
    if (!a.empty()) std::memcpy(text.data(), a.data(), a.size());
    if (!b.empty()) std::memcpy(text.data() + a.size(), b.data(), b.size());
    return {text.data(), text.size()};
}

}  // namespace shove::rabbitmq_backend
