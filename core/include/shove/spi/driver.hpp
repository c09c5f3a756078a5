#pragma once

#include <shove/broadcast.hpp>
#include <shove/detail/unique_function.hpp>
#include <shove/spi/capabilities.hpp>
#include <shove/spi/delivery.hpp>
#include <shove/spi/description.hpp>
#include <shove/topology.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The port: all that a backend implements. A driver moves bytes and says what its broker can do;
/// limits, decoding, timeouts, retry policy, order, batching, audit, metrics and shutdown are the
/// engine's.
///
/// Rules for every operation here:
///  - It never blocks. Work that blocks runs on a thread of the driver.
///  - Its callback is called exactly once, from any thread, also before the operation returns. It
///    does not throw. It may call the driver again. The driver holds no lock while calling it.
///  - Operations may be called from any thread, several at a time.
///  - Errors are values with a text that names queue, value and remedy; no payload, no secret.
namespace shove::spi {

template <class Signature>
using callback = unique_function<Signature>;

/// Told to a driver when it is made.
struct driver_context {
    std::shared_ptr<shove::clock> clock;
};

/// A message on its way out.
struct outgoing {
    message msg;
    milliseconds delay{0};  ///< Hand it out no earlier than this from now. Only with `delayed_publish`.
};

/// What became of one message of a publish.
enum class publish_status : std::uint8_t {
    ok,             ///< Stored: the broker has confirmed it.
    failed,         ///< Not stored.
    unknown,        ///< Sent, but no answer came: it may be stored.
    not_attempted,  ///< Not sent.
};

struct publish_result {
    publish_status status = publish_status::ok;
    error cause;
};

/// One result per message, or none at all: then every message is stored.
struct publish_report {
    std::vector<publish_result> each;
};

struct publish_request {
    std::vector<outgoing> messages;
    /// Wait for room no longer than this; a moment in the past means: fail at once when full.
    steady_time deadline = steady_time::max();
    /// Of a sequenced topology: all messages belong to this shard.
    std::optional<std::uint16_t> shard{};
};

/// Counts of one queue.
struct queue_depth {
    std::uint64_t ready = 0;
    std::uint64_t in_flight = 0;
    std::uint64_t delayed = 0;
    std::optional<milliseconds> oldest_age;  ///< Of the oldest ready message.
};

/// Where a subscription reads.
struct source {
    std::shared_ptr<const queue_topology> topology;
    bool dead_letters = false;  ///< Read the topology's dead-letter queue instead.
    std::size_t prefetch = 10;  ///< Never more deliveries unsettled than this.
    std::string consumer;       ///< For people: shown by the broker where it can.
    /// Of a sequenced topology: read this shard, as its only reader. While another subscription, here or in another
    /// process, has the shard, `receive` waits. Who takes it over gets its unsettled messages again, in order and
    /// before all others, and a higher `delivery::fence`. Who loses it learns that from `extend`, or
    /// by `errc::lease_lost`; its later settlements are refused. Its `settle` carries batches out in their order.
    std::optional<std::uint16_t> shard{};
    /// Of a broadcast topology, and only there: where to begin. The subscription is a reader of its own: once it is
    /// made it gets every message published from then on, in order, whatever other subscriptions do. What it was not
    /// handed, or has not settled, goes with it, also when its process dies.
    std::optional<broadcast_start> broadcast{};
};

/// One consumer's hold on one queue.
class subscription {
public:
    virtual ~subscription() = default;

    /// Waits until at least one delivery is there, then gives at most `max`. One at a time. An error
    /// ends this call only, not the subscription: the engine calls again with backoff (G8).
    virtual void receive(std::size_t max, callback<void(result<std::vector<delivery>>)> done) = 0;
    /// Ends a waiting `receive` with `errc::cancelled`; deliveries already on their way are not lost.
    virtual void cancel_receive() = 0;
    /// Carries decisions out, in one round trip where the broker can. Reports what did not happen.
    /// One call at a time.
    virtual void settle(std::vector<settlement> batch, callback<void(std::vector<failed_settlement>)> done) = 0;
    /// Renews the lease of these deliveries; gives the tags that are lost. Called every third of
    /// `capabilities::lease`.
    virtual void extend(std::vector<std::uint64_t> tags, callback<void(std::vector<std::uint64_t> lost)> done) {
        (void)tags;
        done({});
    }
    /// Notes durably that only this delivery of the process is being handled from now on: a crash is
    /// its own (G3). Needed with `capabilities::crash_budget`.
    virtual void isolate(std::uint64_t tag, callback<void(error)> done) {
        (void)tag;
        done({});
    }
    /// Gives up the subscription. All deliveries are settled or lost to the engine by now.
    virtual void close(callback<void(error)> done) = 0;
};

/// A row of `admin::list_queues`.
struct queue_info {
    std::string name;
    queue_depth depth;
    std::string dead_letter_queue;  ///< Empty: none.
    std::uint64_t dead = 0;         ///< Messages in that dead-letter queue.
};

/// A message seen in place, without taking it.
struct browsed {
    std::uint64_t cursor = 0;  ///< Rises in queue order; names the message to `move` and `remove`.
    message msg;
    std::unique_ptr<history> past;
};

/// A copy to be stored elsewhere in exchange for the original.
struct moved {
    std::uint64_t cursor = 0;  ///< Of the original.
    message copy;
};

/// A row of `admin::list_keys`: a key of a sequenced topic that does not go on.
struct poisoned_key {
    std::string queue;  ///< The shard's.
    std::string key;
    wall_time since{};
};

/// What the command line and the dashboard need. Only with `capabilities::admin`.
class admin {
public:
    virtual ~admin() = default;
    virtual void list_queues(callback<void(result<std::vector<queue_info>>)> done) = 0;
    /// Up to `max` waiting messages of `queue` with a cursor above `after`, in order.
    virtual void browse(std::string queue, std::uint64_t after, std::size_t max,
                        callback<void(result<std::vector<browsed>>)> done) = 0;
    /// Stores each copy in `to`, with no history, and removes its original; a copy is confirmed
    /// before its original goes. Originals that are gone are skipped. Gives how many were moved.
    virtual void move(std::string from, std::string to, std::vector<moved> items,
                      callback<void(result<std::size_t>)> done) = 0;
    /// Removes waiting messages. Gives how many were there.
    virtual void remove(std::string queue, std::vector<std::uint64_t> cursors,
                        callback<void(result<std::size_t>)> done) = 0;
    /// The poisoned keys of these queues. Only with `capabilities::keeps_keys`.
    virtual void list_keys(std::vector<std::string> queues, callback<void(result<std::vector<poisoned_key>>)> done) {
        (void)queues;
        done(std::vector<poisoned_key>());
    }
    /// Lets a key go on: later deliveries of it are not poisoned. Gives how many were: 0 or 1. Only with
    /// `capabilities::keeps_keys`.
    virtual void release_key(std::string queue, std::string key, callback<void(result<std::size_t>)> done) {
        (void)queue, (void)key;
        done(std::size_t{0});
    }
};

/// A broker connection.
class driver {
public:
    virtual ~driver() = default;

    virtual const spi::capabilities& capabilities() const noexcept = 0;
    /// Makes the queues of a topology. Doing it again changes nothing. Of a reader group
    /// (`queue_topology::reader_group`): also what it reads from, if that is not there; from now on `place_of` gets a
    /// copy, same id, headers and times, of each message published to `target_of`. A broadcast keeps no messages of its
    /// own.
    virtual void declare(std::shared_ptr<const queue_topology> topology, callback<void(error)> done) = 0;
    /// Stores messages in the topology's main queue (`target_of`), in order, and in the queues of all its reader
    /// groups, or, of a broadcast, of all its subscriptions: a message is in all of them or in none. Completes when
    /// each has its fate. Nobody needs to have subscribed to a broadcast.
    virtual void publish(const queue_topology& topology, publish_request request,
                         callback<void(publish_report)> done) = 0;
    virtual void subscribe(source from, callback<void(result<std::shared_ptr<subscription>>)> done) = 0;
    virtual void depth(std::string queue, callback<void(result<queue_depth>)> done) = 0;
    /// One bounded round trip to the broker.
    virtual void ping(steady_time deadline, callback<void(error)> done) = 0;
    /// Tells of the broker, in one round trip at most.
    virtual void describe(callback<void(result<description>)> done) { done(description{}); }
    /// Flushes and ends everything by `deadline`; idempotent. Later operations fail with `errc::closed`.
    virtual void close(steady_time deadline, callback<void(error)> done) = 0;
    /// Null without `capabilities::admin`. Lives as long as the driver.
    virtual spi::admin* admin() noexcept { return nullptr; }
};

}  // namespace shove::spi
