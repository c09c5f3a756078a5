#pragma once

#include "process.hpp"

#include <sys/prctl.h>

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <optional>

namespace shove::bench {

/// Lets a publisher thread go on at a steady rate. It sleeps until a message is due, without spinning;
/// a publisher that is late does not wait.
/// @par Thread safety  Made and used by one thread.
class pacer {
public:
    explicit pacer(std::optional<double> per_second) : start_(now_ns()) {
        if (!per_second) return;
        period_ns_ = 1e9 / *per_second;
        prctl(PR_SET_TIMERSLACK, 1);  // else the kernel may wake it 50 us late
    }

    /// Waits until message `index` is due.
    void wait_for(std::uint64_t index) const noexcept {
        if (period_ns_ <= 0) return;
        const auto due = start_ + static_cast<std::uint64_t>(static_cast<double>(index) * period_ns_);
        if (due <= now_ns()) return;
        const timespec at{static_cast<std::time_t>(due / 1'000'000'000), static_cast<long>(due % 1'000'000'000)};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
        }
    }

private:
    std::uint64_t start_;
    double period_ns_ = 0;
};

}  // namespace shove::bench
