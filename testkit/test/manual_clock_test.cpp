#include <gtest/gtest.h>

#include <shove/testkit/manual_clock.hpp>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using shove::testkit::manual_clock;

TEST(manual_clock, stands_still_until_it_is_moved) {
    manual_clock clock;
    const auto start = clock.now();
    EXPECT_EQ(clock.now(), start);
    clock.advance(90min);
    EXPECT_EQ(clock.now(), start + 90min);
    clock.advance(-5s);
    EXPECT_EQ(clock.now(), start + 90min);
}

TEST(manual_clock, runs_actions_in_order_of_time_then_of_asking) {
    manual_clock clock;
    std::vector<int> ran;
    clock.call_at(clock.now() + 2s, [&] { ran.push_back(3); });
    clock.call_at(clock.now() + 1s, [&] { ran.push_back(1); });
    clock.call_at(clock.now() + 1s, [&] { ran.push_back(2); });
    clock.call_at(clock.now() + 3s, [&] { ran.push_back(4); });
    clock.advance(2s);
    EXPECT_EQ(ran, (std::vector{1, 2, 3}));
    EXPECT_EQ(clock.pending(), 1u);
}

TEST(manual_clock, shows_an_action_its_own_moment) {
    manual_clock clock;
    const auto start = clock.now();
    shove::steady_time seen;
    clock.call_at(start + 7s, [&] { seen = clock.now(); });
    clock.advance(1h);
    EXPECT_EQ(seen, start + 7s);
    EXPECT_EQ(clock.now(), start + 1h);
}

TEST(manual_clock, runs_nothing_inside_call_at) {
    manual_clock clock;
    bool ran = false;
    clock.call_at(clock.now() - 1s, [&] { ran = true; });
    EXPECT_FALSE(ran);
    clock.advance({});
    EXPECT_TRUE(ran);
}

TEST(manual_clock, runs_what_an_action_asks_for_within_the_same_span) {
    manual_clock clock;
    int ticks = 0;
    std::function<void()> tick = [&] {
        ++ticks;
        clock.call_at(clock.now() + 1s, [&] { tick(); });
    };
    clock.call_at(clock.now() + 1s, [&] { tick(); });
    clock.advance(10s);
    EXPECT_EQ(ticks, 10);
    EXPECT_EQ(clock.pending(), 1u);
}

TEST(manual_clock, a_cancelled_timer_does_not_run) {
    manual_clock clock;
    bool ran = false;
    const auto id = clock.call_at(clock.now() + 1s, [&] { ran = true; });
    EXPECT_NE(id, 0u);
    EXPECT_TRUE(clock.cancel(id));
    EXPECT_FALSE(clock.cancel(id));
    clock.advance(1h);
    EXPECT_FALSE(ran);
}

TEST(manual_clock, an_action_may_cancel_the_next_one_but_not_itself) {
    manual_clock clock;
    bool ran = false;
    const auto second = clock.call_at(clock.now() + 2s, [&] { ran = true; });
    shove::clock::timer_id first = 0;
    first = clock.call_at(clock.now() + 1s, [&] {
        EXPECT_FALSE(clock.cancel(first));
        EXPECT_TRUE(clock.cancel(second));
    });
    clock.advance(1h);
    EXPECT_FALSE(ran);
}

TEST(manual_clock, moves_to_the_next_timer) {
    manual_clock clock;
    const auto start = clock.now();
    int ran = 0;
    for (int i = 0; i < 2; ++i)
        clock.call_at(start + 5s, [&] { ++ran; });
    clock.call_at(start + 9s, [&] { ++ran; });
    EXPECT_EQ(clock.next(), start + 5s);
    EXPECT_TRUE(clock.advance_to_next());
    EXPECT_EQ(ran, 2);
    EXPECT_EQ(clock.now(), start + 5s);
    EXPECT_TRUE(clock.advance_to_next());
    EXPECT_EQ(clock.now(), start + 9s);
    EXPECT_FALSE(clock.advance_to_next());
    EXPECT_EQ(clock.next(), std::nullopt);
}

TEST(manual_clock, the_calendar_moves_along_and_steps_alone) {
    manual_clock clock;
    const auto steady = clock.now();
    const auto wall = clock.wall();
    clock.advance(90s);
    EXPECT_EQ(clock.wall(), wall + 90s);
    clock.step_wall(-24h);
    EXPECT_EQ(clock.wall(), wall + 90s - 24h);
    EXPECT_EQ(clock.now(), steady + 90s);
}

TEST(manual_clock, the_calendar_loses_no_fractions) {
    manual_clock clock;
    const auto wall = clock.wall();
    for (int i = 0; i < 1000; ++i)
        clock.advance(100ns);
    EXPECT_EQ(clock.wall(), wall + 100us);
}

TEST(manual_clock, waits_for_a_timer_of_another_thread) {
    manual_clock clock;
    std::atomic<bool> ran{false};
    std::jthread other([&] { clock.call_at(clock.now() + 1s, [&] { ran = true; }); });
    ASSERT_TRUE(clock.wait_for_pending(1));
    clock.advance(1s);
    EXPECT_TRUE(ran);
    EXPECT_FALSE(clock.wait_for_pending(1, 1ms));
}

TEST(manual_clock, takes_timers_of_many_threads) {
    manual_clock clock;
    std::atomic<int> ran{0};
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; ++t) {
            threads.emplace_back([&] {
                for (int i = 0; i < 500; ++i) {
                    const auto id = clock.call_at(clock.now() + 1ms, [&] { ++ran; });
                    if (i % 2 == 0 && clock.cancel(id)) ++ran;
                    clock.advance(1us);
                }
            });
        }
    }
    clock.advance(1h);
    EXPECT_EQ(ran, 2000);
    EXPECT_EQ(clock.pending(), 0u);
}

}  // namespace
