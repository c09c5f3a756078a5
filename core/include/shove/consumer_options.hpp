#pragma once

#include <shove/clock.hpp>
#include <shove/outcome.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace shove {

/// How many consumers a registration runs. For now `min` must equal `max`.
struct consumer_range {
    std::uint32_t min = 1;
    std::uint32_t max = 1;

    consumer_range() = default;
    consumer_range(std::uint32_t exactly) noexcept : min(exactly), max(exactly) {}
    consumer_range(std::uint32_t low, std::uint32_t high) noexcept : min(low), max(high) {}
};

/// How a topic is consumed.
struct consumer_options {
    consumer_range consumers{1};
    /// Messages that one consumer holds unsettled at most; also how many it handles at once.
    std::size_t prefetch = 10;
    /// False: one message at a time per consumer, in order. See `sequential()`.
    bool concurrent = true;
    /// Calls that may end in retry, an exception or a timeout before the message is dead-lettered:
    /// it is called `1 + max_retries` times at most.
    std::uint32_t max_retries = 10;
    /// Time for one call; nothing: no limit.
    std::optional<milliseconds> handler_timeout = milliseconds(30'000);
    /// What a call that ran out of time counts as.
    outcome timeout_outcome = retry;
    /// How long a call may go on after its stop token was signalled; its answer counts until then.
    milliseconds timeout_grace{1'000};
    /// Larger payloads are dead-lettered unhandled, reason `oversize`.
    std::size_t max_message_bytes = 10 * 1024 * 1024;
    /// Deaths of a process during a call before the message is dead-lettered, reason `crashed`
    /// (where the backend counts them).
    std::uint32_t crash_budget = 3;
    /// Sequenced topics: so many messages of one key may wait behind its first one; then the shard fetches no more
    /// until there are fewer. Nothing is reordered or dead-lettered for it.
    std::size_t max_pending_per_key = 1'000;
    /// Sequenced topics: what a shard may hold while keys wait; beyond, the shard waits too.
    std::size_t reorder_window = 10'000;
    std::size_t reorder_window_bytes = 64 * 1024 * 1024;

    /// The same options, one message at a time per consumer.
    consumer_options sequential() const {
        auto copy = *this;
        copy.concurrent = false;
        return copy;
    }
};

}  // namespace shove
