#pragma once

#include "entry.hpp"

#include <shove/clock.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>

namespace shove::in_memory {

/// Messages that wait for their time, the earliest first; of equal times the first come first.
/// @par Thread safety  None; the queue's lock guards it.
class delay_heap {
public:
    bool empty() const noexcept { return heap_.empty(); }
    std::size_t size() const noexcept { return heap_.size(); }
    /// When the next one is due; `steady_time::max()` where there is none.
    steady_time next() const noexcept { return heap_.empty() ? steady_time::max() : heap_.front().due; }

    void push(steady_time due, entry&& item) {
        heap_.push_back({due, ++arrivals_, std::move(item)});
        std::push_heap(heap_.begin(), heap_.end(), later);
        most_ = std::max(most_, heap_.size());
    }
    entry pop() {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        entry item = std::move(heap_.back().item);
        heap_.pop_back();
        if (heap_.empty() && most_ > 1000) give_back();
        return item;
    }

private:
    struct waiting {
        steady_time due;
        std::uint64_t arrival;
        entry item;
    };
    static bool later(const waiting& a, const waiting& b) noexcept {
        return a.due != b.due ? a.due > b.due : a.arrival > b.arrival;
    }

    /// The index of a deque stays as large as it ever was.
    void give_back() {
        std::deque<waiting>().swap(heap_);
        most_ = 0;
    }

    std::deque<waiting> heap_;  // a deque gives memory back as it drains
    std::size_t most_ = 0;
    std::uint64_t arrivals_ = 0;
};

}  // namespace shove::in_memory
