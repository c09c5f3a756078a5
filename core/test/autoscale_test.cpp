#include <shove/autoscaler.hpp>
#include <shove/error.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "../src/decide/autoscale.hpp"

namespace shove::decide {
namespace {

using namespace std::chrono_literals;
using action = scale_decision::action;

scale_snapshot seen(std::uint64_t ready, std::uint64_t in_flight, std::uint32_t consumers, std::uint32_t busy = 0) {
    scale_snapshot made;
    made.ready = ready;
    made.in_flight = in_flight;
    made.consumers = consumers;
    made.busy = busy;
    made.min = 1;
    made.max = 8;
    return made;
}

TEST(threshold, work_in_flight_counts) {
    EXPECT_EQ(by_threshold(seen(0, 20, 2), 2, 0.5).what, action::hold) << "busy, though nothing waits";
    EXPECT_EQ(by_threshold(seen(30, 11, 2), 2, 0.5).what, action::up);
}

TEST(threshold, equality_holds) {
    EXPECT_EQ(by_threshold(seen(40, 0, 2), 2, 0.5).what, action::hold);
    EXPECT_EQ(by_threshold(seen(41, 0, 2), 2, 0.5), by_threshold(seen(41, 0, 2), 2, 0.5));
    EXPECT_EQ(by_threshold(seen(41, 0, 2), 2, 0.5).what, action::up);
    EXPECT_EQ(by_threshold(seen(10, 0, 2), 2, 0.5).what, action::hold);
    EXPECT_EQ(by_threshold(seen(9, 0, 2), 2, 0.5).what, action::down);
}

TEST(threshold, one_at_a_time_and_said_in_words) {
    const auto up = by_threshold(seen(50, 7, 2), 2, 0.5);
    EXPECT_EQ(up.by, 1U);
    EXPECT_EQ(up.reason,
              "backlog 57 (50 ready + 7 in flight) is over 2 × the capacity of 20 (2 consumers × prefetch 10)");
    EXPECT_EQ(by_threshold(seen(0, 0, 8), 2, 0.5).by, 1U);
}

TEST(threshold, without_consumers) {
    EXPECT_EQ(by_threshold(seen(0, 0, 0), 2, 0.5).what, action::hold);
    EXPECT_EQ(by_threshold(seen(1, 0, 0), 2, 0.5).what, action::up);
}

TEST(threshold, never_down_where_the_rest_would_go_up_again) {
    EXPECT_EQ(by_threshold(seen(11, 0, 2), 1.0, 0.9).what, action::hold);
    EXPECT_EQ(by_threshold(seen(10, 0, 2), 1.0, 0.9).what, action::down);
}

TEST(threshold, refuses_multipliers_that_make_no_sense) {
    const auto nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THROW((void)threshold_strategy(0.5, 0.5), exception);
    EXPECT_THROW((void)threshold_strategy(2.0, 0.0), exception);
    EXPECT_THROW((void)threshold_strategy(nan, 0.5), exception);
    EXPECT_THROW((void)threshold_strategy(std::numeric_limits<double>::infinity(), 0.5), exception);
    EXPECT_EQ(threshold_strategy()->decide(seen(21, 0, 1)).what, action::up);
}

TEST(drain_time, as_many_as_it_takes) {
    auto now = seen(590, 10, 1);
    now.service_time = 1s;
    now.calls_at_once = 10;
    const auto up = by_drain_time(now, 10s);  // 600 s of work, 100 s of it by each consumer
    EXPECT_EQ(up.what, action::up);
    EXPECT_EQ(up.by, 5U);
    EXPECT_EQ(up.reason, "backlog 600 (590 ready + 10 in flight) at 1 s a call takes 6 consumers to drain within 10 s");
}

TEST(drain_time, down_only_to_what_drains_in_half_the_time) {
    auto now = seen(250, 0, 6);
    now.service_time = 1s;
    EXPECT_EQ(by_drain_time(now, 10s).what, action::down);
    EXPECT_EQ(by_drain_time(now, 10s).by, 1U);
    now.ready = 251;
    EXPECT_EQ(by_drain_time(now, 10s).what, action::hold);
    now.ready = 0;
    EXPECT_EQ(by_drain_time(now, 10s).by, 5U) << "one stays";
}

TEST(drain_time, as_the_threshold_until_a_call_was_measured) {
    EXPECT_EQ(by_drain_time(seen(100, 0, 1), 10s), by_threshold(seen(100, 0, 1), 2, 0.5));
    EXPECT_THROW((void)drain_time_strategy(0ms), exception);
    EXPECT_EQ(drain_time_strategy(1s)->decide(seen(100, 0, 1)).what, action::up);
}

TEST(drain_time, survives_any_numbers) {
    auto now = seen(std::numeric_limits<std::uint64_t>::max() - 1, 1, 1);
    now.service_time = std::chrono::nanoseconds::max();
    now.calls_at_once = 0;
    EXPECT_EQ(by_drain_time(now, 1ms).what, action::up);
}

class governor : public testing::Test {
protected:
    const steady_time start{1h};
    scale_governor calm{10s, 30s};

    scale_decision at(milliseconds when, const scale_snapshot& what, scale_decision wish) {
        return calm.judge(what, std::move(wish), start + when);
    }
    scale_decision up(milliseconds when, std::uint32_t consumers = 2) {
        return at(when, seen(99, 0, consumers), scale_decision::up(1, "much"));
    }
    scale_decision down(milliseconds when, std::uint32_t busy = 0) {
        return at(when, seen(0, 0, 2, busy), scale_decision::down(1, "little"));
    }
    scale_decision hold(milliseconds when) { return at(when, seen(20, 0, 2), scale_decision::hold("enough")); }
};

TEST_F(governor, follows_what_lasted) {
    EXPECT_EQ(up(0s).what, action::hold);
    EXPECT_EQ(up(9'999ms).what, action::hold);
    EXPECT_NE(up(9'999ms).reason.find("much"), std::string::npos) << "the wish's own reason is kept";
    EXPECT_EQ(up(10s).what, action::up);
}

TEST_F(governor, a_wish_that_wavers_starts_anew) {
    (void)up(0s);
    (void)hold(5s);
    EXPECT_EQ(up(10s).what, action::hold);
    EXPECT_EQ(down(15s).what, action::hold);
    EXPECT_EQ(up(20s).what, action::hold);
    EXPECT_EQ(up(30s).what, action::up);
}

TEST_F(governor, one_change_per_cooldown) {
    (void)up(0s);
    EXPECT_EQ(up(10s).what, action::up);
    calm.changed(start + 10s);
    for (milliseconds t = 15s; t < 40s; t += 5s)
        EXPECT_EQ(up(t).what, action::hold) << t.count();
    EXPECT_EQ(up(40s).what, action::up) << "it lasted meanwhile";
}

TEST_F(governor, a_decision_not_carried_out_costs_nothing) {
    (void)up(0s);
    EXPECT_EQ(up(10s).what, action::up);
    EXPECT_EQ(up(15s).what, action::up);
}

TEST_F(governor, a_turn_within_the_cooldown_must_last_too) {
    (void)up(0s);
    (void)up(10s);
    calm.changed(start + 10s);
    (void)up(35s);
    EXPECT_EQ(down(40s).what, action::hold);
    EXPECT_EQ(down(50s).what, action::down);
}

TEST_F(governor, keeps_to_the_bounds) {
    EXPECT_EQ(at(0s, seen(999, 0, 8), scale_decision::up(1, "much")).what, action::hold);
    const auto most = at(20s, seen(999, 0, 8), scale_decision::up(1, "much"));
    EXPECT_EQ(most.what, action::hold);
    EXPECT_EQ(most.reason, "at the maximum of 8 consumers; much");
    EXPECT_EQ(at(40s, seen(0, 0, 1), scale_decision::down(1, "little")).reason, "at the minimum of 1 consumer; little");
    (void)at(50s, seen(999, 0, 6), scale_decision::up(7, "much"));
    EXPECT_EQ(at(60s, seen(999, 0, 6), scale_decision::up(7, "much")).by, 2U);
}

TEST_F(governor, never_stops_who_is_busy) {
    (void)down(0s);
    EXPECT_EQ(down(10s, 2).what, action::hold);
    EXPECT_EQ(down(15s, 1).what, action::down) << "one became idle; nothing was spent";
    EXPECT_EQ(at(20s, seen(0, 1, 8, 6), scale_decision::down(5, "little")).by, 2U);
}

TEST_F(governor, what_was_not_seen_did_not_last) {
    (void)up(0s);
    calm.blind();
    EXPECT_EQ(up(10s).what, action::hold);
    EXPECT_EQ(up(20s).what, action::up);
}

}  // namespace
}  // namespace shove::decide
