#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "scaling_simulation.hpp"

namespace shove::decide {
namespace {

using std::chrono::seconds;

/// So many messages a second for 20 s, none for the next 20 s.
std::uint64_t square_wave(seconds now, std::uint64_t rate) {
    return now % 40s < 20s ? rate : 0;
}

void expect_calm(const scaling_simulation& load) {
    EXPECT_GE(load.shortest_pause(), 30s);
    EXPECT_EQ(load.busy_stopped, 0U);
    EXPECT_GE(load.least, load.min);
    EXPECT_LE(load.most, load.max);
}

TEST(scaling_load, a_square_wave_under_a_long_handler_settles) {
    for (const std::uint64_t rate : {1, 2, 3, 5, 8}) {
        scaling_simulation load;
        load.run(1h, [&](seconds now) { return square_wave(now, rate); });
        expect_calm(load);
        EXPECT_EQ(load.turns(), 0) << "flaps at " << rate << " messages a second";
    }
}

/// What the reference does: a queue that is empty because all is being handled looks idle.
TEST(scaling_load, the_same_wave_flaps_where_only_what_waits_counts) {
    scaling_simulation load;
    load.strategy = [](scale_snapshot now) {
        now.in_flight = 0;
        return by_threshold(now, 2.0, 0.5);
    };
    load.run(1h, [](seconds now) { return square_wave(now, 3); });
    EXPECT_GT(load.turns(), 5) << "this test shows nothing any more";
}

TEST(scaling_load, a_ramp_is_followed_up_and_down_once) {
    scaling_simulation load;
    load.service = 5s;
    load.run(20min, [](seconds now) { return static_cast<std::uint64_t>(now.count() / 100); });
    const auto top = load.consumers();
    EXPECT_GE(top, 4U);
    load.run(20min, [](seconds now) { return static_cast<std::uint64_t>((2400 - now.count()) / 100); });
    load.run(10min, [](seconds) { return 0U; });
    expect_calm(load);
    EXPECT_EQ(load.consumers(), load.min);
    EXPECT_EQ(load.turns(), 1);
}

TEST(scaling_load, a_burst_is_worked_off_and_forgotten) {
    scaling_simulation load;
    load.service = 1s;
    load.max = 4;
    load.run(1s, [](seconds) { return 10'000U; });
    load.run(1h, [](seconds) { return 0U; });
    expect_calm(load);
    EXPECT_EQ(load.most, 4U);
    EXPECT_EQ(load.ready + load.in_flight(), 0U);
    EXPECT_EQ(load.consumers(), load.min);
    EXPECT_EQ(load.turns(), 1);
    EXPECT_EQ(load.changes.front().at, 15s) << "seen after 5 s, lasted 10 s";
}

TEST(scaling_load, nothing_changes_while_the_broker_tells_no_depth) {
    scaling_simulation load;
    load.service = 1s;
    load.known = [](seconds now) { return now < 60s || now > 600s; };
    load.run(30min, [](seconds) { return 50U; });
    expect_calm(load);
    for (const auto& change : load.changes)
        EXPECT_TRUE(change.at < 60s || change.at >= 615s) << change.at.count() << " s";
    EXPECT_GT(load.changes.back().at, 600s);
}

TEST(scaling_load, a_time_to_drain_is_reached_in_one_change) {
    scaling_simulation load;
    load.service = 1s;
    load.max = 50;
    load.strategy = [](const scale_snapshot& now) { return by_drain_time(now, 30s); };
    load.run(1s, [](seconds) { return 6'000U; });
    load.run(60s, [](seconds) { return 0U; });
    ASSERT_FALSE(load.changes.empty());
    EXPECT_EQ(load.changes.front().at, 15s);
    EXPECT_GE(load.changes.front().by, 18);
    EXPECT_EQ(load.ready + load.in_flight(), 0U) << "not drained 30 s after the change";
    load.run(10min, [](seconds) { return 0U; });
    expect_calm(load);
    EXPECT_EQ(load.consumers(), 1U);
}

RC_GTEST_PROP(scaling_load, no_load_breaks_the_rules, ()) {
    scaling_simulation load;
    load.service = seconds(*rc::gen::inRange(1, 60));
    load.prefetch = *rc::gen::inRange<std::size_t>(1, 30);
    load.min = *rc::gen::inRange<std::uint32_t>(1, 4);
    load.max = load.min + *rc::gen::inRange<std::uint32_t>(0, 9);
    load.poll = seconds(*rc::gen::inRange(1, 12));
    load.hysteresis = seconds(*rc::gen::inRange(0, 30));
    load.cooldown = seconds(*rc::gen::inRange(0, 90));
    if (*rc::gen::arbitrary<bool>()) {
        const auto target = seconds(*rc::gen::inRange(1, 120));
        load.strategy = [target](const scale_snapshot& now) { return by_drain_time(now, target); };
    }
    const auto silent = *rc::gen::container<std::vector<int>>(10, rc::gen::inRange(0, 5));
    load.known = [&](seconds now) { return silent[static_cast<std::size_t>(now.count() / 60 % 10)] != 0; };
    const auto rates = *rc::gen::container<std::vector<int>>(20, rc::gen::inRange(0, 40));
    load.run(20min, [&](seconds now) {
        return static_cast<std::uint64_t>(rates[static_cast<std::size_t>(now.count() / 60 % 20)]);
    });
    RC_ASSERT(load.changes.size() < 2 || load.shortest_pause() >= load.cooldown);
    RC_ASSERT(load.busy_stopped == 0U);
    RC_ASSERT(load.least >= load.min);
    RC_ASSERT(load.most <= load.max);
    for (const auto& change : load.changes)
        RC_ASSERT(load.known(change.at));
}

}  // namespace
}  // namespace shove::decide
