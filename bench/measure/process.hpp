#pragma once

#include <cstdint>

namespace shove::bench {

/// Nanoseconds of CLOCK_MONOTONIC: two processes of one machine agree on it.
std::uint64_t now_ns() noexcept;

/// CPU seconds of this process so far, all threads.
struct cpu_time {
    double user = 0;
    double system = 0;
};
cpu_time process_cpu() noexcept;

/// The largest resident set of this process so far, in KiB.
std::uint64_t rss_peak_kib();

/// The machine's load average over one minute; -1 if unknown.
double load_average();

/// Ticks of all cores since boot.
struct machine_time {
    std::uint64_t busy = 0;
    std::uint64_t steal = 0;
    std::uint64_t all = 0;
};
machine_time machine_cpu();

/// How much of the machine was busy between two readings, whoever used it.
struct machine_share {
    double busy_pct = 0;
    double steal_pct = 0;
};
machine_share share_between(const machine_time& from, const machine_time& to) noexcept;

}  // namespace shove::bench
