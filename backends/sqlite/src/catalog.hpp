#pragma once

#include "database.hpp"
#include "feeds.hpp"
#include "schema.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace shove::sqlite_backend {

/// A queue's place in the log and its reader's place in the queue, as of this transaction.
///
/// A message of the queue is, for its reader group:
///  - unstarted: after `cursor` and not in `parked`;
///  - waiting again, or delayed: a row of `parked`;
///  - in flight: a row of `lease`;
///  - finished: none of these.
struct queue_state : std::enable_shared_from_this<queue_state> {
    std::int64_t id = 0;
    std::int64_t group = 0;
    std::string name;
    std::string dead_letter_queue;
    std::int64_t tail = 0;    ///< The last number given to a message.
    std::int64_t cursor = 0;  ///< The last number that the reader group has started.
    /// Numbers after `cursor` that are not unstarted messages: removed, or parked with a delay.
    std::int64_t gaps = 0;
    /// Up to here a delivery may have been lost in a power cut: `redelivered` is true.
    std::int64_t suspect_below = 0;
    bool broadcast = false;  ///< Keeps no messages itself.
    /// Of a shard: the reader of this driver that has it or asks for it. Not in the file.
    const void* holder = nullptr;

    std::int64_t unstarted() const noexcept { return tail - cursor - gaps; }
    bool exhausted() const noexcept { return tail + 1 >= (id + 1) << sequence_bits; }

private:
    friend class catalog;
    std::uint64_t loaded_in = 0;
    std::uint64_t feeds_loaded_in = 0;
    std::vector<queue_state*> feeds;
    bool changed = false;
    std::int64_t saved_tail = 0;
    std::int64_t saved_cursor = 0;
    std::int64_t saved_gaps = 0;

    void note_saved() noexcept {
        saved_tail = tail;
        saved_cursor = cursor;
        saved_gaps = gaps;
    }
};

/// Queues by name. States are kept between transactions as long as no other connection writes.
class catalog {
public:
    explicit catalog(database& db);

    /// The queue of that name, or null if there is none (or reading failed).
    /// The address stays valid for the connection's life; that of a subscription's queue while somebody shares it.
    queue_state* find(std::string_view name);
    /// The queue of a group that `find` has given before, refreshed.
    queue_state& refresh(queue_state& queue);
    /// Makes the queue if it is not there. Fails if it is a broadcast and should be none, or the reverse.
    queue_state* declare(std::string_view name, std::string_view dead_letter_queue, std::int64_t now_us,
                         bool broadcast = false);
    bool check_kind(const queue_state& queue, bool broadcast);
    /// Has `to` get a copy of what is published to `from`. Fails if it gets another queue's.
    void feed(const queue_state& from, const queue_state& to);
    /// Makes the queue of a broadcast's subscription.
    queue_state* subscribe(const queue_state& broadcast, std::string_view name, std::int64_t owner,
                           std::int64_t now_us);
    /// Removes it with all that is in it; `release` once that is committed.
    void unsubscribe(const queue_state& queue);
    void release(const queue_state& queue);
    /// The queues that get a copy of what is published to this one.
    const std::vector<queue_state*>& feeds_of(queue_state& queue);
    /// Subscriptions, of whomever, get what this driver publishes.
    bool feeds_subscriptions() const noexcept { return feeds_subscriptions_; }
    /// Subscriptions were removed on this connection.
    void forget_feeds() noexcept { ++feeds_epoch_; }
    /// Notes that a state has been changed, to be written by `flush`.
    void touch(queue_state& queue);
    /// Writes what was changed; before the commit.
    void flush();
    /// Another connection wrote, or this one rolled back: nothing known is certain any more.
    void forget() noexcept;

private:
    bool load(queue_state& queue, std::string_view name);
    queue_state* begin(std::string_view name);
    void erase(const queue_state& queue);

    database* db_;
    std::map<std::string, std::shared_ptr<queue_state>, std::less<>> queues_;
    std::vector<queue_state*> changed_;
    std::uint64_t epoch_ = 1;
    std::uint64_t feeds_epoch_ = 1;
    bool feeds_subscriptions_ = false;
    statement load_;
    statement insert_queue_;
    statement insert_subscription_;
    statement insert_group_;
    statement set_dead_letters_;
    statement save_tail_;
    statement save_cursor_;

public:
    feed_table fed;
};

}  // namespace shove::sqlite_backend
