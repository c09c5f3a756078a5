#pragma once

#include "database.hpp"
#include "schema.hpp"

#include <cstdint>
#include <functional>
#include <map>
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
struct queue_state {
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
    /// Of a shard: the reader of this driver that has it or asks for it. Not in the file.
    const void* holder = nullptr;

    std::int64_t unstarted() const noexcept { return tail - cursor - gaps; }
    bool exhausted() const noexcept { return tail + 1 >= (id + 1) << sequence_bits; }

private:
    friend class catalog;
    std::uint64_t loaded_in = 0;
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
    /// The address stays valid for the connection's life.
    queue_state* find(std::string_view name);
    /// The queue of a group that `find` has given before, refreshed.
    queue_state& refresh(queue_state& queue);
    /// Makes the queue if it is not there.
    queue_state* declare(std::string_view name, std::string_view dead_letter_queue, std::int64_t now_us);
    /// Notes that a state has been changed, to be written by `flush`.
    void touch(queue_state& queue);
    /// Writes what was changed; before the commit.
    void flush();
    /// Another connection wrote, or this one rolled back: nothing known is certain any more.
    void forget() noexcept;

private:
    bool load(queue_state& queue, std::string_view name);

    std::map<std::string, queue_state, std::less<>> queues_;
    std::vector<queue_state*> changed_;
    std::uint64_t epoch_ = 1;
    statement load_;
    statement insert_queue_;
    statement insert_group_;
    statement set_dead_letters_;
    statement save_tail_;
    statement save_cursor_;
};

}  // namespace shove::sqlite_backend
