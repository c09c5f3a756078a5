// The real clock: timers come when they are due, whatever was set and removed before.

#include <shove/clock.hpp>
#include <shove/testkit/events.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>

namespace shove {
namespace {

using namespace std::chrono_literals;

/// When a timer that is set for then was called.
struct called {
    testkit::counter times;
    std::shared_ptr<steady_time> at = std::make_shared<steady_time>();

    unique_function<void()> action() const {
        return [times = times, at = at]() mutable {
            *at = std::chrono::steady_clock::now();
            times.add();
        };
    }
};

TEST(system_clock_test, an_earlier_timer_is_not_missed_for_a_later_one) {
    const auto clock = make_system_clock();
    clock->call_at(clock->now() + 1h, [] {});
    const called soon;
    const auto due = clock->now() + 10ms;
    clock->call_at(due, soon.action());
    soon.times.wait(1, "the timer");
    EXPECT_GE(*soon.at, due);
}

TEST(system_clock_test, a_timer_set_after_a_removed_one_comes_in_its_time) {
    const auto clock = make_system_clock();
    for (const auto wait : {40ms, 80ms}) {  // later than the removed one, or earlier
        const auto removed = clock->call_at(clock->now() + 60ms, [] { ADD_FAILURE() << "it was removed"; });
        EXPECT_TRUE(clock->cancel(removed));
        EXPECT_FALSE(clock->cancel(removed));
        const called then;
        const auto due = clock->now() + wait;
        clock->call_at(due, then.action());
        then.times.wait(1, "the timer");
        EXPECT_GE(*then.at, due);
    }
}

TEST(system_clock_test, a_timer_may_set_the_next_one) {
    const auto clock = make_system_clock();
    const called second;
    clock->call_at(clock->now() + 5ms,
                   [&clock = *clock, &second] { clock.call_at(clock.now() + 5ms, second.action()); });
    second.times.wait(1, "the timer");
}

}  // namespace
}  // namespace shove
