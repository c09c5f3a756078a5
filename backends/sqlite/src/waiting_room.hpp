#pragma once

#include "catalog.hpp"
#include "message_table.hpp"

#include <cstdint>
#include <optional>

namespace shove::sqlite_backend {

/// A message that waits outside the log: given back, delayed, or taken from a dead owner.
struct parked_message {
    std::int64_t seq = 0;
    std::uint32_t deliveries = 0;
    bool maybe_handled = false;
};

/// The `parked` table: messages that are neither unstarted, in flight nor finished.
/// `due_at` is 0 for those that may be handed out now, so that they come in queue order.
class waiting_room {
public:
    explicit waiting_room(database& db);

    void add(std::int64_t group, const parked_message& what, std::int64_t due_at) {
        add_.run(group, what.seq, due_at, what.deliveries, what.maybe_handled);
    }
    bool remove(std::int64_t group, std::int64_t seq) { return remove_.run(group, seq) > 0; }
    /// Makes what is due ready, at most `batch` at once. True if something became ready.
    bool promote(queue_state& queue, std::int64_t now_us);
    /// When the next delayed message of the group is due.
    std::optional<std::int64_t> next_due(std::int64_t group);
    /// How many are ready, counted up to `enough`.
    std::int64_t count_ready(std::int64_t group, std::int64_t enough);

    static constexpr std::int64_t batch = 1000;

private:
    statement add_;
    statement remove_;
    statement make_ready_;
    statement due_;
    statement next_due_;
    statement count_ready_;
};

}  // namespace shove::sqlite_backend
