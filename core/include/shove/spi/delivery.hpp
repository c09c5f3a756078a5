#pragma once

#include <shove/clock.hpp>
#include <shove/error.hpp>
#include <shove/message.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shove::spi {

/// What happened to a message before, as the engine counts it. A driver stores it with the message
/// when it delays or dead-letters it and hands it back unchanged; it never computes with it, except
/// for `crashes`, which it raises when the process that held the delivery died during the call.
struct history {
    /// Times it was put back after a call that ended in retry, an exception or a timeout. The call that spends
    /// the budget is not put back, so a dead letter of `max_retries_exceeded` shows `max_retries`.
    std::uint32_t retries = 0;
    std::uint32_t crashes = 0;  ///< Deaths of a process during a call.
    std::string first_error;    ///< At most `max_error_bytes`, valid UTF-8.
    std::string last_error;
    wall_time first_failed_at{};
    wall_time last_failed_at{};
    // In a dead-letter queue only:
    std::string
        death_reason;  ///< `rejected`, `max_retries_exceeded`, `oversize`, `deserialize`, `expired`, `crashed`, …
    std::string original_queue;  ///< The queue it was consumed from.
    std::uint32_t death_count = 0;
    wall_time dead_at{};

    static constexpr std::size_t max_error_bytes = 2048;
};

/// One message handed to one consumer. It belongs to the engine until it is settled.
struct delivery {
    message msg;
    std::uint64_t tag = 0;               ///< The driver's own handle; the engine only carries it.
    std::uint32_t deliveries = 0;        ///< How often it was handed out, this time included; 0: unknown.
    bool redelivered = false;            ///< May have been handled before; never wrongly false.
    std::optional<std::uint64_t> fence;  ///< Rises at each takeover of the shard, where the backend can.
    std::unique_ptr<history> past;       ///< Null: nothing ever happened to it.
    wall_time not_before{};              ///< Of a message kept with a delay: not to be called earlier. Epoch: at once.
    bool poisoned = false;               ///< Its key was poisoned, and not released since.
};

/// What to do with a delivery. The engine decides; the driver knows how its broker does it safely.
enum class settlement_kind : std::uint8_t {
    complete,     ///< It is done; forget it.
    delay,        ///< Hand it out again once `delay` has passed, with `item.past` as its history.
    dead_letter,  ///< Move it, with `item.past`, to the topology's dead-letter queue.
    release,      ///< Not started: hand it out again at once, in its old place, at no cost.
    /// Sequenced topics only: it stays with this subscription, unsettled and in its place. Note its history and
    /// that it must not be called before `delay` has passed, so that whoever takes the shard over knows both.
    keep,
};

/// One decision. The whole delivery comes back to the driver.
/// A delivery leaves its source only after its next home has confirmed it (G1).
struct settlement {
    delivery item;
    settlement_kind kind = settlement_kind::complete;
    milliseconds delay{0};
    /// `delay` only: the index of the hold tier that the delay came from, if it came from one.
    std::optional<std::size_t> tier;
    /// `dead_letter` only: poison its key, in the same step. Where the backend keeps keys (`capabilities::keeps_keys`).
    bool poison_key = false;
};

/// A settlement that did not happen. Retryable errors are tried again by the engine, with backoff;
/// `errc::lease_lost` ends it (the message belongs to somebody else now) and is counted.
struct failed_settlement {
    settlement what;
    error cause;
};

}  // namespace shove::spi
