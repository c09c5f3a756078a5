#pragma once

#include "entry.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>

namespace shove::in_memory {

/// Gives out runs of positions; one per driver, so that a position names one message of the driver.
class position_source {
public:
    std::uint64_t take(std::uint64_t count) noexcept { return next_.fetch_add(count, std::memory_order_relaxed); }

private:
    std::atomic<std::uint64_t> next_{1};
};

/// The ready messages of a queue, in order. Fresh ones stand in a chain of fixed blocks that go as
/// they drain; ones that came back are kept beside it and merged in, each in its old place. A position is found in
/// logarithmic time, so browsing costs the same however long the queue is.
/// @par Thread safety  None; the queue's lock guards it.
class backlog {
public:
    explicit backlog(position_source& positions) noexcept : positions_(positions) {}

    std::size_t size() const noexcept { return fresh_ + returned_.size(); }
    bool empty() const noexcept { return size() == 0; }
    /// The message that is next; not on an empty backlog.
    const message& front() const;

    void push_back(message&& msg, std::unique_ptr<record> known);
    /// Puts a message back where it stood.
    void put_back(place where, entry&& item);
    /// Takes the first `count` messages; gives `place` and `entry&` of each to `use`.
    template <class Use>
    void take_front(std::size_t count, Use&& use);
    /// Takes one message from anywhere.
    std::optional<std::pair<place, entry>> take(std::uint64_t position);
    /// Shows up to `max` messages behind position `after`, in order: `use(position, const entry&)`.
    template <class Use>
    void browse(std::uint64_t after, std::size_t max, Use&& use) const;

private:
    static constexpr std::uint32_t block_size = 256;

    /// Slots `[begin, end)` are in use; a slot without a message was taken from the middle.
    struct block {
        std::uint64_t base = 0;
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        std::uint32_t live = 0;
        std::array<entry, block_size> slots;
    };
    struct returned {
        entry item;
        std::uint8_t generation;
    };
    using chain = std::deque<std::unique_ptr<block>>;

    /// True if the next message is one that came back.
    bool returned_first() const noexcept;
    template <class Use>
    std::size_t take_fresh(std::size_t count, Use& use);
    block& open_block();
    /// Drops used-up blocks and steps over holes, so that the first slot holds a message.
    void settle_front();
    chain::const_iterator block_at(std::uint64_t position) const;

    position_source& positions_;
    std::map<std::uint64_t, returned> returned_;
    chain blocks_;
    std::size_t fresh_ = 0;
};

template <class Use>
void backlog::take_front(std::size_t count, Use&& use) {
    while (count > 0) {
        if (returned_first()) {
            auto node = returned_.extract(returned_.begin());
            use(place{node.key(), node.mapped().generation}, node.mapped().item);
            --count;
        } else {
            count -= take_fresh(count, use);
        }
    }
}

template <class Use>
std::size_t backlog::take_fresh(std::size_t count, Use& use) {
    block& b = *blocks_.front();
    const std::uint64_t limit = returned_.empty() ? UINT64_MAX : returned_.begin()->first;
    std::size_t taken = 0;
    for (; b.begin < b.end && taken < count && b.base + b.begin < limit; ++b.begin) {
        entry& slot = b.slots[b.begin];
        if (!slot.msg) continue;
        use(place{b.base + b.begin, 0}, slot);
        ++taken;
    }
    b.live -= static_cast<std::uint32_t>(taken);
    fresh_ -= taken;
    settle_front();
    return taken;
}

template <class Use>
void backlog::browse(std::uint64_t after, std::size_t max, Use&& use) const {
    auto back = returned_.upper_bound(after);
    const auto show_returned = [&](std::uint64_t before) {
        for (; max > 0 && back != returned_.end() && back->first < before; ++back, --max) {
            use(back->first, back->second.item);
        }
    };
    for (auto b = block_at(after + 1); b != blocks_.end() && max > 0; ++b) {
        const std::uint64_t skip = after + 1 > (*b)->base ? after + 1 - (*b)->base : 0;
        for (std::uint64_t i = std::max<std::uint64_t>(skip, (*b)->begin); i < (*b)->end && max > 0; ++i) {
            const entry& slot = (*b)->slots[i];
            if (!slot.msg) continue;
            show_returned((*b)->base + i);
            if (max == 0) return;
            use((*b)->base + i, slot);
            --max;
        }
    }
    show_returned(UINT64_MAX);
}

}  // namespace shove::in_memory
