#pragma once

#include <amqp.h>

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

namespace shove::rabbitmq_backend {

/// Memory that is given back all at once. It keeps its pages, so that the next round allocates nothing.
/// @par Thread safety  None.
class pool {
public:
    pool() noexcept { init_amqp_pool(&pool_, 4096); }
    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;
    ~pool() { empty_amqp_pool(&pool_); }

    /// Takes all that was given out back.
    void recycle() noexcept { recycle_amqp_pool(&pool_); }
    /// `count` zeroed objects. Throws `std::bad_alloc`.
    template <class T>
    std::span<T> make(std::size_t count) {
        static_assert(std::is_trivial_v<T> && alignof(T) <= 8);
        return {static_cast<T*>(zeroed(count * sizeof(T))), count};
    }
    /// One text after another, in one piece. Throws `std::bad_alloc`.
    std::string_view joined(std::string_view a, std::string_view b);
    /// For functions of the client library.
    amqp_pool_t* get() noexcept { return &pool_; }

private:
    void* zeroed(std::size_t bytes);
    amqp_pool_t pool_{};
};

}  // namespace shove::rabbitmq_backend
