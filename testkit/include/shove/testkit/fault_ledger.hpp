#pragma once

#include <shove/testkit/backend_factory.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// The test of all faults at once: a broker, its network and its workers break while messages flow, and the books must
/// agree in the end.
namespace shove::testkit {

/// How a fault ledger runs.
struct fault_plan {
    std::size_t messages = 50'000;    ///< So many are published and confirmed.
    std::uint64_t seed = 0;           ///< Of all that is chosen; 0: chosen itself, and printed.
    std::size_t workers = 4;          ///< Processes with one consumer each,
    std::size_t prefetch = 10;        ///< with so many deliveries each;
    std::size_t reorder_window = 40;  ///< of a sequenced topic: with so many of each shard.
    bool sequenced = false;
    /// The broker itself moves what has waited for a retry, and a kill of it may lose that: then it is counted, and no
    /// breach.
    bool retries_may_be_lost = false;
    unsigned broker_kills = 3;                    ///< Spread evenly over the messages.
    std::chrono::milliseconds cut_every{1'000};   ///< All connections, each time.
    std::chrono::milliseconds kill_every{2'000};  ///< One worker, each time; another one takes its place.
    /// Before the first fault: so many messages are handled, each once.
    std::size_t quiet_messages = 200;
};

/// A broker that may be broken, and a network that may be.
struct fault_target {
    backend_store& through;               ///< By that network. Its location is what workers attach to.
    backend_store& direct;                ///< Past it; tells what all processes have in hand.
    std::function<bool()> cut;            ///< Resets all connections. False: there was none.
    std::function<void()> kill_broker;    ///< SIGKILL; what was declared before it lasts.
    std::function<void()> start_broker;   ///< With its data; returns when it serves.
    std::chrono::milliseconds unseen{0};  ///< See `backend_factory::unseen`.
};

/// What a fault ledger found.
struct fault_report {
    std::uint64_t seed = 0;
    std::size_t confirmed = 0;     ///< Publishes that were,
    std::size_t failed = 0;        ///< that were reported as not stored,
    std::size_t unknown = 0;       ///< and those of which nobody knows.
    std::size_t handled = 0;       ///< Messages of which a call was seen.
    std::size_t dead = 0;          ///< Messages that lie dead.
    std::size_t lost_retries = 0;  ///< Messages that ended before their last attempt, where that may be.
    std::size_t faults = 0;        ///< That hit something.
    std::size_t doubled = 0;       ///< Calls and dead letters that repeat another one.
    std::size_t most_doubled = 0;  ///< The most of them that one fault is the likely cause of.
    /// From each start of the broker until publishing and handling went on.
    std::vector<std::chrono::milliseconds> resumed;
    std::vector<std::string> breaches;  ///< What must not be, in words; empty: all is well.
};

/// Publishes through the network and has worker processes handle it all, while connections are cut, workers are killed
/// and the broker is. Some messages are retried, some rejected, as the seed says. In the end:
/// - what was reported as stored was handled to its end; what was reported as not stored was never seen;
/// - no message had more attempts than were asked for, and all calls of a message but one were flagged `redelivered`;
/// - exactly the rejected messages are dead;
/// - what is doubled has a fault that explains it, and no fault has to explain more than the consumers that it hit may
///   hold unsettled; a dead letter whose confirmation was cut off may be there twice, and counts as one of these;
/// - of a sequenced topic, no message was handled before every earlier one of its key had its last call.
/// The program must be one whose children know the factory: see `register_child_roles`.
fault_report run_faults(const fault_target& target, const fault_plan& plan);

}  // namespace shove::testkit
