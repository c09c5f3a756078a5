#pragma once

#include <shove/spi/driver.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <vector>

namespace shove::in_memory {

using receive_result = result<std::vector<spi::delivery>>;
using receive_done = spi::callback<void(receive_result)>;

/// A subscription as its queue sees it. Guarded by the queue's lock.
struct receiver {
    explicit receiver(std::size_t limit, bool alone = false) noexcept : prefetch(limit), exclusive(alone) {}

    const std::size_t prefetch;
    const bool exclusive;  ///< Reads a shard: one of these has the queue, the others wait for it.
    std::size_t unsettled = 0;
    std::size_t wanted = 0;  ///< Of the waiting receive.
    receive_done done;       ///< Set while a receive waits.
    bool queued = false;     ///< It waits and has room: it stands in the line.
    bool open = false;

    bool waits() const noexcept { return static_cast<bool>(done); }
    std::size_t spare() const noexcept { return prefetch - std::min(prefetch, unsettled); }
};

/// The receivers of a queue that wait for messages, in turn.
/// @par Thread safety  None; the queue's lock guards it.
class turns {
public:
    bool empty() const noexcept { return line_.empty(); }
    std::size_t size() const noexcept { return line_.size(); }

    /// Lines up a receiver that waits and may take something.
    void join(receiver& who) {
        if (!who.waits() || who.queued || who.spare() == 0) return;
        who.queued = true;
        line_.push_back(&who);
    }
    void leave(receiver& who) {
        if (!who.queued) return;
        who.queued = false;
        std::erase(line_, &who);
    }
    receiver& next() {
        receiver& who = *line_.front();
        line_.pop_front();
        who.queued = false;
        return who;
    }

private:
    std::deque<receiver*> line_;
};

}  // namespace shove::in_memory
