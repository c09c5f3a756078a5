#pragma once

#include <shove/clock.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace shove::rabbitmq_backend {

/// When a connection with many deliveries is read again. A server sends what it has in small pieces; each read costs
/// system calls, and wakes a thread. So while much comes the next read waits a little, as a network card does with its
/// interrupts: more comes at once. Pure.
class read_pace {
public:
    static constexpr std::chrono::microseconds rest{500};
    static constexpr std::int64_t busy_per_ms = 8;

    /// Deliveries were read.
    /// @param near_limit  A consumer has got so much of what the server sends ahead that it may soon send nothing.
    void read(std::size_t deliveries, bool near_limit, steady_time now) noexcept {
        const auto since = now - last_;
        last_ = now;
        // Before the clock's value for long ago gets into a product.
        const bool busy = since < std::chrono::seconds(1) &&
                          static_cast<std::int64_t>(deliveries) * std::chrono::milliseconds(1) >= busy_per_ms * since;
        next_ = busy && !near_limit ? now + rest : steady_time{};
    }
    /// Not before; in the past: at once.
    steady_time next() const noexcept { return next_; }

private:
    steady_time last_{};
    steady_time next_{};
};

}  // namespace shove::rabbitmq_backend
