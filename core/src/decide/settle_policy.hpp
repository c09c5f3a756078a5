#pragma once

#include <shove/outcome.hpp>
#include <shove/spi/delivery.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Decisions: pure functions, no I/O, no clock.
namespace shove::decide {

/// What a topic and its consumer's options say about failures.
struct failure_policy {
    std::string queue;
    std::uint32_t max_retries = 10;
    std::uint32_t crash_budget = 3;
    std::vector<milliseconds> holds;
    bool any_delay = true;  ///< The broker can delay by any time, not only by a hold tier's.
    bool has_dlq = false;
};

/// How a delivery's turn ended.
enum class ending : std::uint8_t {
    acked,
    retry,
    reject,
    defer,
    exception,    ///< The handler threw.
    timed_out,    ///< The handler did not answer in time; counted as `timeout_kind`.
    oversize,     ///< Not called: over the size limit.
    undecodable,  ///< Not called: the codec refused the bytes.
    expired,      ///< Not called: too old.
    crashed,      ///< Not called: its crash budget is spent.
    poisoned,     ///< Not called: its key was poisoned by an earlier message.
};

struct ended {
    ending how = ending::acked;
    outcome_kind timeout_kind = outcome_kind::retry;  ///< `timed_out` only.
    std::optional<milliseconds> delay;                ///< Of `retry_after`.
    std::string text;                                 ///< Reason or error.
};

/// What was decided, for counting.
enum class fate : std::uint8_t { completed, retried, deferred, dead_lettered, discarded };

struct verdict {
    spi::settlement what;
    shove::decide::fate fate = fate::completed;
    std::string_view reason{};  ///< Why it is dead-lettered or discarded; a literal.
};

/// Decides on a delivery from a main queue. Counts stay in `item.past`: a budget of `max_retries` lets a
/// message be called `1 + max_retries` times; `defer` costs nothing; what was not called goes straight to the
/// dead letters; without a dead-letter queue it is discarded.
verdict settle(const failure_policy& policy, spi::delivery item, ended how, wall_time now);

/// Decides on a delivery from a dead-letter queue: acknowledged ones go, all others wait and come again.
verdict settle_dead(spi::delivery item, const ended& how);

/// Checks a delivery before its call; nothing if it may be called.
struct size_limits {
    std::size_t max_message_bytes = 0;
};
std::optional<ended> refuse_unhandled(const failure_policy& policy, const size_limits& limits,
                                      const spi::delivery& item, wall_time now);

/// The delay before the next call when no hold tier says it: 10 ms doubling to 1 s.
milliseconds default_delay(std::uint32_t retries) noexcept;

}  // namespace shove::decide
