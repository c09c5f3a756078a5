#pragma once

#include <shove/clock.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace shove::testkit {

/// A clock that stands still until a test moves it: delays of hours pass in microseconds, and always
/// in the same order.
///
/// Actions run on the thread that calls `advance` or `advance_to_next`, the earliest first, those of
/// one moment in the order in which they were asked for; never inside `call_at`. While one runs,
/// `now()` is the moment that it was asked for (or later, if it was asked for too late). An action
/// that became due by what another one did is run by the same call. No lock is held meanwhile.
/// @par Thread safety  All members may be called from any thread.
class manual_clock final : public clock {
public:
    using duration = steady_time::duration;

    /// Starts at noon of the first day of 2024, at a steady time of its own.
    manual_clock() noexcept = default;
    explicit manual_clock(wall_time first) noexcept : wall_start_(first) {}

    steady_time now() const noexcept override;
    wall_time wall() const noexcept override;
    timer_id call_at(steady_time when, unique_function<void()> action) override;
    bool cancel(timer_id id) override;

    /// Lets `by` pass. `advance({})` runs what is due already. Time never goes back: a negative `by` counts as none.
    void advance(duration by);
    /// Moves to the next timer and runs all that is due then. False: no timer is pending.
    bool advance_to_next();
    /// When the next timer is due, if one is pending.
    std::optional<steady_time> next() const;
    /// Timers that have neither run nor been cancelled.
    std::size_t pending() const;
    /// Waits, in real time, until at least `count` timers are pending: for tests whose code under test
    /// runs on threads of its own. False: that did not happen within `limit`.
    bool wait_for_pending(std::size_t count, std::chrono::milliseconds limit = std::chrono::seconds(10)) const;
    /// Steps the calendar only, in either direction, as an administrator or NTP does.
    void step_wall(wall_time::duration by);

private:
    using key = std::pair<steady_time, timer_id>;

    void run_until(steady_time target);

    mutable std::mutex mutex_;
    mutable std::condition_variable added_;
    std::map<key, unique_function<void()>> timers_;
    std::map<timer_id, steady_time> places_;
    timer_id last_id_ = 0;
    static constexpr steady_time start{std::chrono::hours(1000)};
    steady_time now_ = start;
    wall_time wall_start_{std::chrono::sys_days(std::chrono::year(2024) / 1 / 1) + std::chrono::hours(12)};
};

}  // namespace shove::testkit
