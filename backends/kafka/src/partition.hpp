#pragma once

#include <shove/spi/delivery.hpp>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "commit_note.hpp"
#include "offset_window.hpp"
#include "record.hpp"

namespace shove::kafka_backend {

/// What a partition is to the group member that owns it.
struct partition_place {
    std::string topic;
    std::int32_t number = 0;
    bool waits = false;      ///< Its messages wait: each is handed out when it is due.
    bool handled = false;    ///< Its messages have been handled before: they are copies.
    bool sequenced = false;  ///< They stay in place through their retries.
    bool groupless = false;  ///< Nothing of it is committed.
};

/// One owned partition: what was received of it, who has it, and what a successor must know. No I/O, no thread: its
/// member's loop uses it alone.
class owned_partition {
public:
    /// @param slot      Tells its deliveries' tags from those of others.
    /// @param position  The committed offset; nothing: there is none.
    /// @param note      That of the last owner.
    owned_partition(partition_place where, std::uint16_t slot, std::optional<std::int64_t> position,
                    std::optional<commit_note> note);

    const partition_place& where() const noexcept { return where_; }
    std::uint16_t slot() const noexcept { return slot_; }
    static std::uint16_t slot_of(std::uint64_t tag) noexcept { return static_cast<std::uint16_t>(tag >> offset_bits); }
    static std::int64_t offset_of(std::uint64_t tag) noexcept {
        return static_cast<std::int64_t>(tag & ((std::uint64_t{1} << offset_bits) - 1));
    }

    /// Takes a record in; it is then ready, waits, or was settled before.
    void receive(std::int64_t offset, incoming what);
    /// Makes ready what is due. Gives when the next one is; nothing: none waits.
    std::optional<wall_time> make_due(wall_time now);
    /// Up to `max` of what is ready and may be handed out, in order, for a receiver. Adds to `into`.
    /// @param judge  `bool(spi::delivery&)`; false: not yet, nor what is behind it.
    template <class Judge>
    void hand_out(std::size_t max, std::uint64_t receiver, std::vector<spi::delivery>& into, Judge judge) {
        for (; max > 0 && !ready_.empty() && !must_reserve() && judge(ready_.front()); --max)
            hand_first(receiver, into);
    }
    /// The tag of the last ready one. There is one.
    std::uint64_t last_ready() const noexcept { return ready_.back().tag; }
    bool any_ready() const noexcept { return !ready_.empty(); }
    /// Whether the next ready one may be handed out only after a commit.
    bool must_reserve() const noexcept {
        return !where_.groupless && !ready_.empty() && offset_of(ready_.front().tag) >= reserved_;
    }
    /// What is received and not handed out.
    std::size_t held_back() const noexcept { return ready_.size() + waiting_.size(); }
    std::size_t handed_out() const noexcept { return handed_.size(); }
    bool is_handed(std::uint64_t tag) const { return handed_.contains(offset_of(tag)); }
    std::size_t unsettled() const noexcept { return window_ ? window_->unsettled() : 0; }
    /// Behind the last offset received; nothing: there was none yet.
    std::optional<std::int64_t> next() const noexcept {
        return window_ ? std::optional(window_->next()) : std::nullopt;
    }

    /// It is done with. False: it is not in anybody's hands here.
    bool settle(std::uint64_t tag);
    /// Nobody has begun it: it is ready again, in its old place.
    void put_back(spi::delivery item);
    /// As `put_back`, of all that a receiver has; they may have been handled.
    void take_back(std::uint64_t receiver);
    /// It waits in its place: a successor will know.
    void keep(std::uint64_t tag, const spi::history& past, wall_time not_before);
    /// Only this one is being handled.
    void isolate(std::uint64_t tag);
    /// Has the next owner in this process begin with a higher fence, after the next commit.
    void change_hands();

    // Commits. A note is `revision` old; what is asked for is durable when a commit of that revision is.
    std::uint64_t revision() const noexcept { return revision_; }
    std::uint64_t committed_revision() const noexcept { return committed_; }
    bool dirty() const noexcept { return committed_ < revision_; }
    std::size_t settled_since_commit() const noexcept { return settled_since_commit_; }
    /// Reaches so far beyond what was received.
    void reserve(std::int64_t more);
    /// So much is left of what was reserved.
    std::int64_t reserve_left() const noexcept;
    struct commit {
        std::int64_t offset = 0;
        std::string note;
        std::uint64_t revision = 0;
        std::int64_t reach = 0;
        bool last = false;  ///< The note says that its owner left in order.
    };
    /// Nothing: there is no offset yet, or the note has no room.
    std::optional<commit> to_commit(bool leaving);
    void committed(const commit& what);

private:
    static constexpr unsigned offset_bits = 48;
    std::uint64_t tag_of(std::int64_t offset) const noexcept {
        return std::uint64_t{slot_} << offset_bits | static_cast<std::uint64_t>(offset);
    }
    spi::delivery made_ready(std::int64_t offset, incoming what) const;
    void insert_ready(spi::delivery item);
    void hand_first(std::uint64_t receiver, std::vector<spi::delivery>& into);
    void touch() noexcept { ++revision_; }

    struct handed {
        message msg;
        std::unique_ptr<spi::history> past;
        std::uint64_t receiver = 0;
    };

    const partition_place where_;
    const std::uint16_t slot_;
    std::optional<offset_window> window_;  ///< Made with the first offset that is known.
    std::vector<offset_run> settled_before_;
    commit_note note_;  ///< `reach`, `fence`, `kept`, … of this owner.
    std::deque<spi::delivery> ready_;
    std::multimap<wall_time, spi::delivery> waiting_;
    std::unordered_map<std::int64_t, handed> handed_;
    std::int64_t reserved_ = 0;  ///< `reach` of the last commit that is durable.
    std::uint64_t revision_ = 1;
    std::uint64_t committed_ = 0;
    std::size_t settled_since_commit_ = 0;
};

}  // namespace shove::kafka_backend
