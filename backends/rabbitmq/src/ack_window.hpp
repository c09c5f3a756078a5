#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace shove::rabbitmq_backend {

/// Which deliveries of a channel are unsettled, and how to settle some of them in few frames. Pure.
///
/// A server numbers a channel's deliveries 1, 2, 3, …, and `basic.ack` with `multiple` settles all up to a number. So
/// what is settled at the front goes out as one frame, and what lies behind something unsettled as one frame each.
class ack_window {
public:
    struct frame {
        std::uint64_t tag = 0;
        bool multiple = false;
        friend bool operator==(const frame&, const frame&) = default;
    };

    /// The next delivery has arrived.
    void add() { states_.push_back(state::open); }
    /// The first number that was not seen yet.
    std::uint64_t next() const noexcept { return first_ + states_.size(); }
    /// Whether that delivery was seen and is not settled.
    bool is_open(std::uint64_t tag) const noexcept {
        return tag >= first_ && tag < next() && states_[tag - first_] == state::open;
    }
    std::size_t open() const noexcept { return open_count(); }
    /// The first that is not settled; where there is none, `next()`.
    std::uint64_t oldest_open() const noexcept {
        return first_ + static_cast<std::uint64_t>(std::ranges::find(states_, state::open) - states_.begin());
    }
    /// Notes that it is to be acknowledged.
    void ack(std::uint64_t tag) {
        if (is_open(tag)) states_[tag - first_] = state::acked;
    }
    /// It was settled by a frame of its own, now.
    void gone(std::uint64_t tag) {
        if (is_open(tag)) states_[tag - first_] = state::settled;
        trim();
    }
    /// The frames that carry out all that was noted. They must be sent in this order, at once.
    std::vector<frame> take_frames() {
        std::vector<frame> made;
        std::uint64_t front = 0;  // the last of those that can go together
        std::size_t together = 0;
        std::size_t i = 0;
        for (; i < states_.size() && states_[i] != state::open; ++i) {
            if (states_[i] != state::acked) continue;
            front = first_ + i;
            ++together;
        }
        if (together > 0) made.push_back({front, together > 1});
        for (auto n = i; n < states_.size(); ++n) {
            if (states_[n] != state::acked) continue;
            made.push_back({first_ + n, false});
            states_[n] = state::settled;
        }
        first_ += i;
        states_.erase(states_.begin(), states_.begin() + static_cast<std::ptrdiff_t>(i));
        return made;
    }
    void clear() {
        first_ = 1;
        states_.clear();
    }

private:
    enum class state : std::uint8_t { open, acked, settled };

    void trim() {
        while (!states_.empty() && states_.front() == state::settled) {
            states_.pop_front();
            ++first_;
        }
    }
    std::size_t open_count() const noexcept {
        std::size_t count = 0;
        for (const auto s : states_)
            count += s == state::open ? 1 : 0;
        return count;
    }

    std::uint64_t first_ = 1;
    std::deque<state> states_;
};

}  // namespace shove::rabbitmq_backend
