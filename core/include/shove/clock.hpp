#pragma once

#include <shove/detail/unique_function.hpp>
#include <shove/message.hpp>

#include <chrono>
#include <cstdint>
#include <memory>

namespace shove {

using std::chrono::milliseconds;

/// A moment of a clock that never steps.
using steady_time = std::chrono::steady_clock::time_point;

/// Where all time in shove comes from, so that tests of delays, leases and drains run on a clock of
/// their own (`testkit::manual_clock`).
/// @par Thread safety  All members may be called from any thread.
class clock {
public:
    using timer_id = std::uint64_t;
    virtual ~clock() = default;

    virtual steady_time now() const noexcept = 0;
    virtual wall_time wall() const noexcept = 0;
    /// As `now`, but may lie up to 10 ms behind where that is cheaper to know: for limits of seconds.
    virtual steady_time recent() const noexcept { return now(); }
    /// Calls `action` once at or soon after `when`, on the clock's own thread (never before this
    /// returns). The action must be short and must not block. An id is never 0.
    virtual timer_id call_at(steady_time when, unique_function<void()> action) = 0;
    /// Takes a timer back. True: the action will not run. False: it ran, or runs now.
    virtual bool cancel(timer_id id) = 0;
};

/// The clock of the machine: one thread and a heap of timers, stopped by the destructor (pending
/// actions are dropped).
std::shared_ptr<clock> make_system_clock();

}  // namespace shove
