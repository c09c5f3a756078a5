#pragma once

#include "claims.hpp"

#include <shove/spi/driver.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace shove::sqlite_backend {

/// A subscription as the writer's thread sees it.
struct reader {
    queue_state* queue = nullptr;
    std::shared_ptr<queue_state> own;  ///< Of a broadcast: `queue`, which goes with the subscription.
    std::size_t prefetch = 10;
    bool exclusive = false;                              ///< Reads a shard, alone.
    std::unordered_map<std::uint64_t, held_lease> held;  ///< By tag: handed out, not settled.
    // A waiting `receive`:
    bool waiting = false;
    bool closed = false;
    std::size_t max = 0;
    spi::callback<void(result<std::vector<spi::delivery>>)> done;

    std::size_t room() const noexcept { return held.size() < prefetch ? std::min(max, prefetch - held.size()) : 0; }
};

/// Who waits for messages, per queue. Used by the writer's thread only.
class attendance {
public:
    /// The readers of one queue that wait.
    struct line {
        std::deque<std::shared_ptr<reader>> waiting;  ///< First come, first served.
        bool hopeful = true;                          ///< There may be something to take.
        std::optional<std::int64_t> next_due;         ///< Wall time of the next delayed message.

        /// Worth a look: somebody has room and there may be something.
        bool wanted() const;
    };
    struct served {
        std::shared_ptr<reader> who;
        claimed what;
    };

    /// How many subscriptions are open.
    std::size_t open = 0;

    void wait(std::shared_ptr<reader> who);
    /// True if it was waiting.
    bool leave(const std::shared_ptr<reader>& who);
    bool anybody() const noexcept;
    /// Something may have become ready in `queue`.
    void hope(const queue_state& queue);
    void hope_all();
    /// The lines with somebody in them.
    std::map<queue_state*, line>& lines() noexcept { return lines_; }
    /// Everybody who waits, taken out of the lines.
    std::vector<std::shared_ptr<reader>> dismiss();

private:
    std::map<queue_state*, line> lines_;
};

/// Whether one of those who wait may take messages: a shard may belong to another reader. Reads only.
bool open_to_some(store& file, queue_state& queue, const attendance::line& at);
/// Takes messages for those who wait in `at`, inside a transaction. They stay in their places until
/// `hand_over`, so that a rollback changes nothing.
std::vector<attendance::served> serve(store& file, claims& claiming, queue_state& queue, attendance::line& at);
/// After the commit: removes the served readers from their line and hands them their messages.
void hand_over(attendance& readers, std::vector<attendance::served> batch);

}  // namespace shove::sqlite_backend
