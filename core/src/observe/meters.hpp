#pragma once

#include <shove/metrics.hpp>
#include <shove/outcome.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// What is measured, where it is measured: plain counts that one writer at a time raises and anybody may read.
namespace shove::detail {

/// A count with one writer at a time.
class cell {
public:
    void add(std::uint64_t n = 1) noexcept { value_.store(get() + n, std::memory_order_relaxed); }
    void set(std::uint64_t n) noexcept { value_.store(n, std::memory_order_relaxed); }
    std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

/// A count with several writers.
class shared_cell {
public:
    void add(std::uint64_t n = 1) noexcept { value_.fetch_add(n, std::memory_order_relaxed); }
    std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> value_{0};
};

/// Upper bounds of handler and publish times, in seconds: from a call that does next to nothing to the longest
/// timeouts, three steps a decade.
inline constexpr std::array<double, 17> time_bounds{0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                                    0.25,   0.5,    1.0,   2.5,    5.0,   10.0, 30.0,  60.0};
/// Upper bounds of payload sizes, in bytes.
inline constexpr std::array<double, 10> size_bounds{64,     256,     1'024,     4'096,     16'384,
                                                    65'536, 262'144, 1'048'576, 4'194'304, 16'777'216};

/// Samples in buckets.
template <class Cell, const auto& Bounds>
struct histogram_cells {
    std::array<Cell, Bounds.size() + 1> buckets;
    Cell sum;  ///< In the unit of `add`.

    /// @param value  Compared with the bounds. @param exact  Added to the sum.
    void add(double value, std::uint64_t exact) noexcept {
        std::size_t at = 0;
        while (at < Bounds.size() && value > Bounds[at])
            ++at;
        buckets[at].add();
        sum.add(exact);
    }
};

template <class Cell>
struct time_cells : histogram_cells<Cell, time_bounds> {
    void note(std::chrono::nanoseconds took) noexcept {
        const auto ns = took.count() > 0 ? static_cast<std::uint64_t>(took.count()) : 0;
        this->add(static_cast<double>(ns) * 1e-9, ns);
    }
};

/// Why a message failed for good, and `timeout`, which counts each call that ran out of time.
inline constexpr std::array<std::string_view, 8> failure_reasons{
    "rejected", "max_retries_exceeded", "oversize", "deserialize", "expired", "crashed", "poisoned", "timeout"};

/// The place of a reason in `failure_reasons`.
std::size_t reason_index(std::string_view reason) noexcept;

inline constexpr std::array<std::string_view, 4> outcome_names{"ack", "retry", "reject", "defer"};

/// What one consumer counts. One writer at a time: whoever has the consumer's lock.
struct consumer_meters {
    std::array<cell, 4> consumed;  ///< By `outcome_kind`.
    std::array<cell, failure_reasons.size()> failed;
    std::array<cell, failure_reasons.size()> discarded;
    std::array<time_cells<cell>, 4> took;  ///< By `outcome_kind`.
    histogram_cells<cell, size_bounds> sizes;
    cell leases_lost;
    cell settle_retries;
    // Gauges, gone with the consumer:
    cell in_flight;
    cell stuck;
    cell consumers;
};

/// What the publishers of one topic count.
struct publish_meters {
    std::array<shared_cell, 2> published;  ///< Stored, not stored.
    std::array<time_cells<shared_cell>, 2> took;
};

/// What the autoscaler says of one registration. Written on the supervising thread.
struct scaling_meters {
    std::array<shared_cell, 3> decisions;  ///< hold, up, down.
    cell ready;
    cell in_flight;
    cell consumers;
};

/// The last known depth of one topic. Written on the supervising thread.
struct depth_meters {
    cell backlog;
    cell in_flight;
    cell delayed;
    cell dead_letters;
    cell oldest_ms;
};

/// What one broker counts beside its topics.
struct broker_meters {
    enum kind : std::uint8_t { connection, publish, consume, topology, ack };
    std::array<shared_cell, 5> errors;
    shared_cell respawned;
    shared_cell audit_written;
    shared_cell audit_failed;
    shared_cell audit_dropped;
};
inline constexpr std::array<std::string_view, 5> error_kinds{"connection", "publish", "consume", "topology", "ack"};

}  // namespace shove::detail
