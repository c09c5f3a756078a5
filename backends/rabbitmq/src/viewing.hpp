#pragma once

#include <shove/spi/driver.hpp>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "cursor_book.hpp"
#include "peek.hpp"

namespace shove::rabbitmq_backend {

/// A queue that is being looked through by its likenesses and cursors. Holds all that it has come by, so that the next
/// page need not begin at the head again, and what was shown can be removed.
/// @par Thread safety  The connection's thread only. All may throw as `connection` does; then the viewing is over.
class viewing {
public:
    /// @param dead  It is a dead-letter queue.
    viewing(ask_channel& over, std::string queue, bool dead)
        : queue_(std::move(queue)), dead_(dead), look_(over, queue_) {}

    const std::string& queue() const noexcept { return queue_; }
    /// What was looked at, by `record_id`; of a dead-letter queue nothing: there it does not matter.
    const std::vector<std::string>& seen() const noexcept { return seen_; }
    bool alive() const noexcept { return look_.alive(); }

    /// Begins where a reading was: what it has shown is gone by.
    void resume(cursor_book::progress from);
    /// The reading that goes on with the next `page`, and the last cursor that it has shown; 0: none.
    bool stands_at(std::uint64_t cursor) const noexcept { return reading_ != 0 && cursor == last_; }
    /// Shows up to `max` more.
    std::vector<spi::browsed> page(std::size_t max, cursor_book& book);

    /// Looks on until all of these are held, or the queue's end is reached. Then `page` is over.
    void reach(const likenesses& wanted);
    /// How many like that are held.
    std::size_t held(const likeness& what) const { return held_.count(what); }
    /// Removes one of them. False: none is held.
    bool remove(const likeness& what);
    /// Carries `remove` out.
    void flush() { look_.flush(); }
    void give_back() { look_.give_back(); }

private:
    struct found {
        likeness what;
        spi::browsed item;
    };
    found read(const glimpse& from);

    const std::string queue_;
    const bool dead_;
    peek look_;
    std::unordered_multimap<likeness, std::uint64_t, likeness_hash> held_;  ///< The tags.
    std::vector<std::string> seen_;
    likenesses to_skip_;
    cursor_book::reading reading_ = 0;
    std::uint64_t last_ = 0;
};

}  // namespace shove::rabbitmq_backend
