#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>

namespace shove::rabbitmq_backend {

/// When the deliveries of a channel came, in little memory: to a hundredth of what is of interest. Pure.
class arrival_times {
public:
    using time = std::chrono::steady_clock::time_point;

    /// All deliveries below `next` are here now.
    /// @param grain  So much too early some of them may be told to have come.
    void note(std::uint64_t next, time now, std::chrono::milliseconds grain) {
        if (next == next_) return;
        if (marks_.empty() || now - marks_.back().when >= grain) marks_.push_back({next_, now});
        next_ = next;
    }
    /// When that one came; those before it are forgotten. Nothing: it has not come.
    std::optional<time> of(std::uint64_t number) {
        if (number >= next_) {
            marks_.clear();
            return std::nullopt;
        }
        while (marks_.size() > 1 && marks_[1].first <= number)
            marks_.pop_front();
        return marks_.front().when;
    }
    void clear() {
        next_ = 1;
        marks_.clear();
    }

private:
    struct mark {
        std::uint64_t first = 0;
        time when;
    };
    std::uint64_t next_ = 1;
    std::deque<mark> marks_;
};

}  // namespace shove::rabbitmq_backend
