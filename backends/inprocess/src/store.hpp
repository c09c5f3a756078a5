#pragma once

#include <shove/spi/driver.hpp>

#include <list>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace shove::in_memory {

/// Messages on their way into a queue.
struct store_batch {
    std::vector<spi::outgoing> messages;
    std::vector<std::unique_ptr<spi::history>> pasts;  ///< One per message, or empty: none has one.
    std::size_t stored = 0;                            ///< So many of them, from the front, are stored.
    bool published = false;                            ///< What the queue feeds gets them, too.

    bool complete() const noexcept { return stored == messages.size(); }
};

/// Gives the batch back. `errc::ok`: all is stored; else why message number `stored` is not.
using store_done = unique_function<void(errc, store_batch)>;

/// A batch that waits for room.
struct store_waiter {
    store_batch batch;
    steady_time deadline;
    store_done done;
};

/// The batches that wait for room, first come, first served.
/// @par Thread safety  None; the queue's lock guards it.
class store_line {
public:
    bool empty() const noexcept { return line_.empty(); }
    store_waiter& front() noexcept { return line_.front(); }
    /// The earliest deadline in the line; `steady_time::max()` where there is none.
    steady_time next_deadline() const noexcept {
        return deadlines_.empty() ? steady_time::max() : deadlines_.begin()->first;
    }

    void push(store_waiter waiter) {
        line_.push_back(std::move(waiter));
        const auto last = std::prev(line_.end());
        if (last->deadline != steady_time::max()) deadlines_.emplace(last->deadline, last);
    }
    store_waiter pop() { return take(line_.begin()); }
    /// Takes the waiter with the earliest deadline.
    store_waiter pop_expired() { return take(deadlines_.begin()->second); }

private:
    using position = std::list<store_waiter>::iterator;

    store_waiter take(position which) {
        const auto [first, last] = deadlines_.equal_range(which->deadline);
        for (auto i = first; i != last; ++i) {
            if (i->second != which) continue;
            deadlines_.erase(i);
            break;
        }
        store_waiter taken = std::move(*which);
        line_.erase(which);
        return taken;
    }

    std::list<store_waiter> line_;
    std::multimap<steady_time, position> deadlines_;
};

}  // namespace shove::in_memory
