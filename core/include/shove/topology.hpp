#pragma once

#include <shove/error.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shove {

/// What happens to the later messages of a key when one of them fails for good.
enum class sequence_failure : std::uint8_t {
    skip,      ///< The failed message is dead-lettered; the key goes on.
    fail_all,  ///< The key is poisoned: its later messages are dead-lettered unhandled.
};

/// The rules of a topology. `topology::violated` names the first one broken.
enum class topology_rule : std::uint8_t {
    none,
    name_empty,           ///< The queue needs a name.
    name_too_long,        ///< Names are at most 200 bytes, so that derived names fit every broker.
    name_characters,      ///< Names are printable ASCII without spaces.
    hold_not_positive,    ///< A hold delay is at least one millisecond.
    too_many_holds,       ///< At most 16 hold tiers.
    dlq_is_queue,         ///< The dead-letter queue needs a name other than the queue's.
    reader_group_blank,   ///< `for_consumer_group` needs a name.
    reader_group_taken,   ///< `dlq`, `hold-…` and `seq-…` are names of the queue's own.
    broadcast_extras,     ///< `broadcast()` excludes dlq, hold, sequenced and for_consumer_group.
    external_sequenced,   ///< `external()` excludes `sequenced()`.
    sequenced_needs_dlq,  ///< `sequenced()` needs a dlq and a hold, or `allow_message_loss()`.
    shards_zero,          ///< At least one shard.
    shards_unsequenced,   ///< `routing_shards` needs `sequenced()` first.
};

/// The rule in words, with the remedy.
std::string_view describe(topology_rule rule) noexcept;

/// The queue layout of a topic, written as a constant:
/// `static constexpr auto topology = shove::topology("orders").hold(5s).hold(30s).dlq();`
/// Every step gives a changed copy; the order of the steps does not matter. Rules are checked by
/// `violated()`: at compile time for a topic type, by `queue_topology::make` for run-time topics.
/// Names are not copied: they must be literals, or live until `queue_topology::make` returns.
class topology {
public:
    static constexpr std::size_t max_holds = 16;

    constexpr explicit topology(std::string_view queue) noexcept : queue_(queue) {}

    /// Adds a retry tier; tiers are used in the order given, the last one again and again.
    template <class Rep, class Period>
    constexpr topology hold(std::chrono::duration<Rep, Period> delay) const noexcept {
        auto next = *this;
        if (next.hold_count_ < max_holds) {
            next.holds_[next.hold_count_] = std::chrono::duration_cast<std::chrono::milliseconds>(delay);
        }
        ++next.hold_count_;
        return next;
    }
    /// Dead letters go to `{queue}-dlq` (`{queue}-{group}-dlq` for a reader group).
    constexpr topology dlq() const noexcept {
        auto next = *this;
        next.has_dlq_ = true;
        next.dlq_name_ = {};
        return next;
    }
    /// Dead letters go to the queue of that very name. The last of `dlq` and `dlq_named` counts.
    constexpr topology dlq_named(std::string_view name) const noexcept {
        auto next = *this;
        next.has_dlq_ = true;
        next.dlq_name_ = name;
        return next;
    }
    /// Allows a sequenced topic without dead letters or holds, and silences the warnings about them.
    constexpr topology allow_message_loss() const noexcept {
        auto next = *this;
        next.allow_loss_ = true;
        return next;
    }
    /// Strict order per sequence key.
    constexpr topology sequenced(sequence_failure on_failure) const noexcept {
        auto next = *this;
        next.sequenced_ = true;
        next.on_failure_ = on_failure;
        return next;
    }
    /// Shards of a sequenced topic; 8 unless said.
    constexpr topology routing_shards(std::uint16_t count) const noexcept {
        auto next = *this;
        next.shards_ = count;
        next.shards_given_ = true;
        return next;
    }
    /// Every subscriber process gets every message; no retries, no dead letters.
    constexpr topology broadcast() const noexcept {
        auto next = *this;
        next.broadcast_ = true;
        return next;
    }
    /// The main queue belongs to somebody else: it is verified, never made.
    constexpr topology external() const noexcept {
        auto next = *this;
        next.external_ = true;
        return next;
    }
    /// An independent reader of what is published to the queue, from the time on when it is first declared. It has
    /// its own place, `{queue}-{group}`, holds and dead letters. Publishing through it publishes to the queue.
    constexpr topology for_consumer_group(std::string_view name) const noexcept {
        auto next = *this;
        next.reader_given_ = true;
        next.reader_group_ = name;
        return next;
    }

    /// The first rule that this topology breaks.
    constexpr topology_rule violated() const noexcept {
        if (auto r = name_rule(queue_); r != topology_rule::none) return r;
        if (auto r = reader_rule(); r != topology_rule::none) return r;
        if (!dlq_name_.empty()) {
            if (auto r = name_rule(dlq_name_); r != topology_rule::none) return r;
            if (dlq_name_ == queue_ || dlq_is_reader()) return topology_rule::dlq_is_queue;
        }
        if (auto r = hold_rule(); r != topology_rule::none) return r;
        if (broadcast_ && (has_dlq_ || hold_count_ > 0 || sequenced_ || reader_given_)) {
            return topology_rule::broadcast_extras;
        }
        if (external_ && sequenced_) return topology_rule::external_sequenced;
        return sequence_rule();
    }

    constexpr std::string_view queue() const noexcept { return queue_; }
    constexpr std::size_t hold_count() const noexcept { return hold_count_ < max_holds ? hold_count_ : max_holds; }
    constexpr std::chrono::milliseconds hold_delay(std::size_t i) const noexcept { return holds_[i]; }
    constexpr bool has_dlq() const noexcept { return has_dlq_; }
    constexpr std::string_view dlq_name() const noexcept { return dlq_name_; }
    constexpr bool loss_allowed() const noexcept { return allow_loss_ || broadcast_; }
    constexpr bool is_sequenced() const noexcept { return sequenced_; }
    constexpr sequence_failure on_failure() const noexcept { return on_failure_; }
    constexpr std::uint16_t shards() const noexcept { return shards_; }
    constexpr bool is_broadcast() const noexcept { return broadcast_; }
    constexpr bool is_external() const noexcept { return external_; }
    constexpr std::string_view reader_group() const noexcept { return reader_group_; }

private:
    static constexpr bool blank(std::string_view s) noexcept { return s.find_first_not_of(" \t\r\n") == s.npos; }
    static constexpr topology_rule name_rule(std::string_view name) noexcept {
        if (name.empty()) return topology_rule::name_empty;
        if (name.size() > 200) return topology_rule::name_too_long;
        for (char c : name) {
            if (c <= ' ' || c > '~') return topology_rule::name_characters;
        }
        return topology_rule::none;
    }
    constexpr topology_rule reader_rule() const noexcept {
        if (!reader_given_) return topology_rule::none;
        if (blank(reader_group_)) return topology_rule::reader_group_blank;
        if (auto r = name_rule(reader_group_); r != topology_rule::none) return r;
        if (queue_.size() + 1 + reader_group_.size() > 200) return topology_rule::name_too_long;
        const bool taken =
            reader_group_ == "dlq" || reader_group_.starts_with("hold-") || reader_group_.starts_with("seq-");
        return taken ? topology_rule::reader_group_taken : topology_rule::none;
    }
    constexpr bool dlq_is_reader() const noexcept {
        return reader_given_ && dlq_name_.size() == queue_.size() + 1 + reader_group_.size() &&
               dlq_name_.starts_with(queue_) && dlq_name_[queue_.size()] == '-' && dlq_name_.ends_with(reader_group_);
    }
    constexpr topology_rule hold_rule() const noexcept {
        if (hold_count_ > max_holds) return topology_rule::too_many_holds;
        for (std::size_t i = 0; i < hold_count_; ++i) {
            if (holds_[i].count() < 1) return topology_rule::hold_not_positive;
        }
        return topology_rule::none;
    }
    constexpr topology_rule sequence_rule() const noexcept {
        if (shards_given_ && !sequenced_) return topology_rule::shards_unsequenced;
        if (shards_ == 0) return topology_rule::shards_zero;
        if (sequenced_ && !allow_loss_ && (!has_dlq_ || hold_count_ == 0)) return topology_rule::sequenced_needs_dlq;
        return topology_rule::none;
    }

    std::string_view queue_;
    std::array<std::chrono::milliseconds, max_holds> holds_{};
    std::size_t hold_count_ = 0;
    std::string_view dlq_name_{};
    std::string_view reader_group_{};
    std::uint16_t shards_ = 8;
    sequence_failure on_failure_ = sequence_failure::skip;
    bool has_dlq_ = false;
    bool allow_loss_ = false;
    bool sequenced_ = false;
    bool shards_given_ = false;
    bool broadcast_ = false;
    bool external_ = false;
    bool reader_given_ = false;
};

/// One retry tier: where a message waits, and how long.
struct hold_tier {
    std::string queue;
    std::chrono::milliseconds delay{};
};

/// How a sequenced topic is laid out.
struct sequencing {
    sequence_failure on_failure = sequence_failure::skip;
    std::vector<std::string> shard_queues;  ///< `{queue}-seq-{i}`: one per shard.
    /// Where they are read: the same, or `{queue}-{group}-seq-{i}`.
    std::vector<std::string> reader_queues;

    std::uint16_t shards() const noexcept { return static_cast<std::uint16_t>(shard_queues.size()); }
    /// The shard of a key: FNV-1a-64 of its bytes, modulo the number of shards.
    std::uint16_t shard_of(std::string_view key) const noexcept;
};

/// A checked topology with all its derived names: what engine and drivers work with.
struct queue_topology {
    std::string queue;         ///< Where messages are published to.
    std::string reader_queue;  ///< Where they are read: the queue, or `{queue}-{group}`.
    std::vector<hold_tier> holds;
    std::string dead_letter_queue;  ///< Empty: none.
    bool allow_message_loss = false;
    std::optional<shove::sequencing> sequencing;
    bool broadcast = false;
    bool external = false;
    std::string reader_group;  ///< Empty: the queue's own reader.

    /// Where its messages are published to: the queue, or a shard's.
    const std::string& target_of(std::optional<std::uint16_t> shard) const {
        return shard && sequencing ? sequencing->shard_queues.at(*shard) : queue;
    }
    /// Where its reader finds them: the same, or the reader group's.
    const std::string& place_of(std::optional<std::uint16_t> shard) const {
        return shard && sequencing ? sequencing->reader_queues.at(*shard) : reader_queue;
    }
    /// All targets: the queue, or those of the shards.
    std::vector<std::string> targets() const {
        return sequencing ? sequencing->shard_queues : std::vector<std::string>{queue};
    }
    /// All places, in the order of the targets.
    std::vector<std::string> places() const {
        return sequencing ? sequencing->reader_queues : std::vector<std::string>{reader_queue};
    }

    /// Checks the rules and derives the names. Error: `errc::invalid_topology`, with queue, rule and remedy.
    static result<std::shared_ptr<const queue_topology>> make(const topology& spec);
};

/// `5s`, `300s`, `1500ms`: the delay as it stands in a hold queue's name.
std::string hold_suffix(std::chrono::milliseconds delay);

}  // namespace shove
