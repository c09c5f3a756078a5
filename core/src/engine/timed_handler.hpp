#pragma once

#include <shove/clock.hpp>
#include <shove/detail/handler.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

namespace shove::detail {

/// Measures how long the calls of a registration's handlers take.
class service_meter {
public:
    /// Notes one message's call, or its part in a batch's. Thread-safe.
    void note(std::chrono::nanoseconds took) noexcept {
        total_.fetch_add(took.count(), std::memory_order_relaxed);
        calls_.fetch_add(1, std::memory_order_relaxed);
    }
    /// The mean, the calls since the last look for one half; nothing: none has ended. One caller at a time.
    std::optional<std::chrono::nanoseconds> mean();

private:
    std::atomic<std::int64_t> total_{0};
    std::atomic<std::int64_t> calls_{0};
    std::int64_t seen_total_ = 0;
    std::int64_t seen_calls_ = 0;
    std::optional<std::chrono::nanoseconds> mean_;
};

/// The same handler, its calls measured.
std::shared_ptr<handler_base> measured(std::shared_ptr<handler_base> handler, std::shared_ptr<service_meter> meter,
                                       const shove::clock& clock);

}  // namespace shove::detail
