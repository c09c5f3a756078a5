#pragma once

#include <shove/clock.hpp>

#include <algorithm>
#include <utility>

namespace shove::in_memory {

/// One timer of the clock, set to the earliest moment asked for. It goes off at most once a
/// millisecond, so that a million delays cost a thousand timers a second.
/// @par Thread safety  None; the queue's lock guards it. The clock's action only calls `ring`, which
///                     must take that lock itself.
class alarm {
public:
    explicit alarm(clock& time) noexcept : clock_(time) {}

    /// True if the alarm must be set to ring by `when`.
    bool needed(steady_time when) const noexcept {
        return when != steady_time::max() && std::max(when, earliest_) < armed_for_;
    }
    void set(steady_time when, unique_function<void()> ring) {
        off();
        armed_for_ = std::max(when, earliest_);
        timer_ = clock_.call_at(armed_for_, std::move(ring));
    }
    /// Said by whoever was rung. False: another alarm is set by now; do nothing.
    bool rang(steady_time now) noexcept {
        if (now < armed_for_) return false;
        armed_for_ = steady_time::max();
        timer_ = 0;
        earliest_ = now + milliseconds(1);
        return true;
    }
    /// There is more to do right now: the next alarm may follow at once.
    void again() noexcept { earliest_ = steady_time::min(); }
    void off() {
        if (timer_ != 0) clock_.cancel(timer_);
        timer_ = 0;
        armed_for_ = steady_time::max();
    }

private:
    clock& clock_;
    clock::timer_id timer_ = 0;
    steady_time armed_for_ = steady_time::max();
    steady_time earliest_ = steady_time::min();
};

}  // namespace shove::in_memory
