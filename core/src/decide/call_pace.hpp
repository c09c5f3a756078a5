#pragma once

#include <chrono>
#include <cstddef>

namespace shove::decide {

/// How long the calls of one consumer usually take, and whether waking one more worker for those that wait is worth
/// its price. Until it has seen many, calls count as slow. Pure.
class call_pace {
public:
    /// So many calls took so long, one after the other on one worker.
    void ended(std::size_t calls, std::chrono::nanoseconds took) noexcept {
        if (calls == 0) return;
        const auto each = std::chrono::duration_cast<ns>(took) / static_cast<double>(calls);
        usual_ += (each < slow_ ? each - usual_ : slow_ - usual_) / 8;
    }
    /// A call takes longer than was to be expected.
    void stalled() noexcept { usual_ = slow_; }
    /// @param waiting  Calls that nobody has begun.
    /// @param active  Workers that are at it already.
    bool worth_a_worker(std::size_t waiting, std::size_t active) const noexcept {
        return active == 0 || static_cast<double>(waiting) * usual_ > wake_up_ * static_cast<double>(active);
    }

private:
    using ns = std::chrono::duration<double, std::nano>;
    static constexpr ns slow_ = std::chrono::milliseconds(1);
    /// What waking a thread and having it begin may cost: some ten microseconds, and its share of the caches.
    static constexpr ns wake_up_ = std::chrono::microseconds(100);

    ns usual_ = slow_;
};

}  // namespace shove::decide
