#pragma once

#include <shove/testkit/backend_factory.hpp>

#include <chrono>
#include <cstdint>
#include <vector>

namespace shove::testkit {

/// What a soak saw.
struct soak_report {
    std::uint64_t published = 0;
    std::uint64_t acked = 0;  ///< Messages whose last call acknowledged.
    std::uint64_t dead = 0;   ///< Dead letters handled.
    std::uint64_t expected_dead = 0;
    std::int64_t settled_bytes = 0;  ///< Memory of the process after a fifth of the time.
    std::int64_t highest_bytes = 0;  ///< The most that it had after that.
};

/// Publishes and handles without a pause for so long, with retries, exceptions, rejects and dead letters, and a backlog
/// that is bounded; then waits until everything is done. Blocks.
soak_report run_soak(const backend_factory& factory, std::chrono::seconds duration);

/// `SHOVE_SOAK_S` seconds, or five minutes.
std::chrono::seconds soak_duration();

/// Whether the process's memory says something: a sanitizer's allocator keeps what was freed.
bool memory_is_ours() noexcept;

}  // namespace shove::testkit
