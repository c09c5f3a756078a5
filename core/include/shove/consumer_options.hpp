#pragma once

#include <shove/clock.hpp>
#include <shove/detail/setting.hpp>
#include <shove/outcome.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace shove {

class audit_trail;

/// How many consumers a registration runs: it starts with `min`, and the autoscaler keeps between the two.
/// Without `consumer_group::enable_autoscaling` it stays at `min`.
/// Of a sequenced topic each shard has exactly one consumer, whatever is said here. A range says there, where the group
/// scales itself, how many handler calls all shards together make at once: as many as `n` consumers would, spread
/// evenly over the shards, `n` from `min` to `max`, at most the number of shards. Otherwise each shard makes up to
/// `prefetch`.
struct consumer_range {
    std::uint32_t min = 1;
    std::uint32_t max = 1;

    consumer_range() = default;
    consumer_range(std::uint32_t exactly) noexcept : min(exactly), max(exactly) {}
    consumer_range(std::uint32_t low, std::uint32_t high) noexcept : min(low), max(high) {}
};

/// How a topic is consumed. Each field may be given or left out. What a registration leaves out is taken from its
/// group's defaults (`broker::consumer_group`), and what these leave out is as written here.
struct consumer_options {
    detail::setting<consumer_range> consumers{detail::by_default, 1U};
    /// Messages that one consumer holds unsettled at most; also how many it handles at once.
    detail::setting<std::size_t> prefetch{detail::by_default, 10U};
    /// False: one message at a time per consumer, in order. See `sequential()`.
    detail::setting<bool> concurrent{detail::by_default, true};
    /// Calls that may end in retry, an exception or a timeout before the message is dead-lettered:
    /// it is called `1 + max_retries` times at most.
    detail::setting<std::uint32_t> max_retries{detail::by_default, 10U};
    /// Time for one call; nothing (`std::nullopt`): no limit.
    detail::setting<std::optional<milliseconds>> handler_timeout{detail::by_default, milliseconds(30'000)};
    /// What a call that ran out of time counts as.
    detail::setting<outcome> timeout_outcome{detail::by_default, outcome_kind::retry};
    /// How long a call may go on after its stop token was signalled; its answer counts until then.
    detail::setting<milliseconds> timeout_grace{detail::by_default, 1'000};
    /// Larger payloads are dead-lettered unhandled, reason `oversize`.
    detail::setting<std::size_t> max_message_bytes{detail::by_default, 10U * 1024 * 1024};
    /// Deaths of a process during a call before the message is dead-lettered, reason `crashed`
    /// (where the backend counts them).
    detail::setting<std::uint32_t> crash_budget{detail::by_default, 3U};
    /// Sequenced topics: so many messages of one key may wait behind its first one; then the shard fetches no more
    /// until there are fewer. Nothing is reordered or dead-lettered for it.
    detail::setting<std::size_t> max_pending_per_key{detail::by_default, 1'000U};
    /// Sequenced topics: what a shard may hold while keys wait; beyond, the shard waits too.
    detail::setting<std::size_t> reorder_window{detail::by_default, 10'000U};
    detail::setting<std::size_t> reorder_window_bytes{detail::by_default, 64U * 1024 * 1024};
    /// Where each call of a handler is written down (<shove/audit.hpp>); null: nowhere.
    detail::setting<std::shared_ptr<audit_trail>> audit{detail::by_default};

    /// The same options, one message at a time per consumer.
    consumer_options sequential() const {
        auto copy = *this;
        copy.concurrent = false;
        return copy;
    }
};

}  // namespace shove
