#pragma once

#include "event.hpp"
#include "sample.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace shove::bench {

/// Where handlers note what they got. Lock-free, except for the two events.
/// @par Thread safety  `called`, `begin` and `end` may be called from several threads at once.
class board {
public:
    /// @param total  Messages expected; their `seq` is below it.
    explicit board(std::uint64_t total);

    void called() noexcept { calls_.fetch_add(1, std::memory_order_relaxed); }
    /// At the start of a handler. True if this delivery counts: not the probe, not a double.
    bool begin(const sample& message) noexcept;
    /// At the end of a handler that counts.
    void end() noexcept;

    event& finished() noexcept { return finished_; }
    event& probed() noexcept { return probed_; }

    std::uint64_t calls() const noexcept { return calls_.load(); }
    std::uint64_t handled() const noexcept { return done_.load(); }
    std::uint64_t duplicates() const noexcept { return duplicates_.load(); }
    /// When the last message was handled; 0: it was not.
    std::uint64_t finished_at() const noexcept { return at_last_.load(); }
    /// Messages a second between the first and the last tenth; 0 if unknown.
    double steady_rate() const noexcept;
    /// Publish stamp to handler start of every handled message, in ns, sorted.
    std::vector<std::uint64_t> latencies() const;

private:
    std::uint64_t total_;
    std::unique_ptr<std::atomic<std::uint64_t>[]> latency_;  // ns plus one; 0: not handled yet
    alignas(64) std::atomic<std::uint64_t> calls_{0};
    alignas(64) std::atomic<std::uint64_t> done_{0};
    alignas(64) std::atomic<std::uint64_t> duplicates_{0};
    std::atomic<std::uint64_t> at_tenth_{0};
    std::atomic<std::uint64_t> at_nine_tenths_{0};
    std::atomic<std::uint64_t> at_last_{0};
    event finished_;
    event probed_;
};

}  // namespace shove::bench
