#pragma once

#include <shove/clock.hpp>
#include <shove/error.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace shove {

/// A call that had not returned at the drain's deadline.
struct stuck_call {
    std::string queue;
    std::string message_id;
    milliseconds running{0};
};

/// How a group's run ended.
struct run_outcome {
    std::uint32_t errors = 0;           ///< Consumers that ended by an error, also those that were replaced.
    std::uint32_t panics = 0;           ///< Consumers that ended by an unexpected exception of the engine.
    bool timed_out = false;             ///< The drain did not end by its deadline.
    std::vector<std::string> failures;  ///< One text per error or panic, the first 100 of a queue.
    std::vector<stuck_call> stuck;      ///< What was still running at the deadline.
    std::uint64_t left = 0;             ///< Deliveries not settled at the deadline; they come again.

    bool clean() const noexcept { return exit_code() == 0; }
    /// 0 clean, 1 errors, 2 panics, 3 the drain timed out; the highest counts.
    int exit_code() const noexcept { return timed_out ? 3 : panics ? 2 : errors ? 1 : 0; }
    /// Flushes the standard streams and ends the process with `exit_code()`, without waiting for stuck
    /// calls: their messages are redelivered elsewhere.
    [[noreturn]] void exit() const;
};

/// Counts of one registration of a group, since its start.
struct consumer_stats {
    std::uint64_t received = 0;  ///< Deliveries taken from the broker.
    std::uint64_t calls = 0;     ///< Handler calls that ended.
    std::uint64_t acked = 0;
    std::uint64_t retried = 0;  ///< Sent to wait for another call, at a cost.
    std::uint64_t deferred = 0;
    std::uint64_t dead_lettered = 0;  ///< Decided, whatever the reason; with or without a queue for it.
    std::uint64_t discarded = 0;      ///< Of these, those without a dead-letter queue.
    std::uint64_t released = 0;       ///< Given back unstarted.
    std::uint64_t timeouts = 0;
    std::uint64_t exceptions = 0;  ///< Calls that ended by an exception.
    std::uint64_t leases_lost = 0;
    std::uint64_t settle_retries = 0;  ///< Settlements that had to be tried again.
    std::uint64_t stuck = 0;           ///< Calls running beyond timeout and grace now.
    std::uint64_t running = 0;         ///< Calls running now.
    std::uint64_t unsettled = 0;       ///< Deliveries held now.
    std::uint64_t consumers = 0;       ///< Consumers that run now.
    std::uint64_t respawned = 0;       ///< Consumers that took the place of one that ended by an error.

    /// Adds another registration's counts, or those of consumers that are gone.
    consumer_stats& operator+=(const consumer_stats& other) noexcept {
        received += other.received;
        calls += other.calls;
        acked += other.acked;
        retried += other.retried;
        deferred += other.deferred;
        dead_lettered += other.dead_lettered;
        discarded += other.discarded;
        released += other.released;
        timeouts += other.timeouts;
        exceptions += other.exceptions;
        leases_lost += other.leases_lost;
        settle_retries += other.settle_retries;
        stuck += other.stuck;
        running += other.running;
        unsettled += other.unsettled;
        consumers += other.consumers;
        respawned += other.respawned;
        return *this;
    }
};

}  // namespace shove
