#include <gtest/gtest.h>

#include "../src/decide/respawn.hpp"

namespace shove::decide {
namespace {

using namespace std::chrono_literals;
using event = respawn::event;

class respawning : public testing::Test {
protected:
    steady_time now{1h};
    respawn machine;

    /// The longest wait: `random % (half + 1)` is `half` for this number.
    static std::uint64_t no_jitter(milliseconds whole) { return static_cast<std::uint64_t>(whole.count() / 2); }
    respawn::action look(std::uint32_t live, std::uint32_t target, std::uint64_t random = 0) {
        return machine.look(now, live, target, random);
    }
    /// A consumer dies, the wait passes, a round begins. Gives the wait.
    milliseconds round(std::uint32_t live, std::uint32_t target) {
        const auto first = look(live, target);
        EXPECT_EQ(first.spawn, 0U);
        EXPECT_TRUE(first.again);
        const auto wait = std::chrono::duration_cast<milliseconds>(*first.again - now);
        now = *first.again;
        EXPECT_GT(look(live, target).spawn, 0U);
        return wait;
    }
};

TEST_F(respawning, nothing_to_do) {
    const auto next = look(2, 2);
    EXPECT_EQ(next.spawn, 0U);
    EXPECT_FALSE(next.again);
}

TEST_F(respawning, waits_then_fills_up) {
    const auto first = look(1, 3, no_jitter(1s));
    EXPECT_EQ(first.spawn, 0U);
    EXPECT_EQ(first.again, now + 1s);
    now += 999ms;
    EXPECT_EQ(look(1, 3).spawn, 0U);
    EXPECT_EQ(look(1, 3).again, now + 1ms) << "a second look changes nothing";
    now += 1ms;
    EXPECT_EQ(look(1, 3).spawn, 2U);
}

TEST_F(respawning, jitter_takes_up_to_a_half) {
    EXPECT_EQ(look(0, 1, 0).again, now + 500ms);
    machine = respawn();
    EXPECT_EQ(look(0, 1, 500).again, now + 1s);
}

TEST_F(respawning, the_wait_doubles_up_to_its_limit) {
    machine = respawn({.rounds_to_open = 100});
    for (const milliseconds whole : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s, 60s}) {
        const auto wait = round(0, 1);
        EXPECT_GE(wait, whole / 2);
        EXPECT_LE(wait, whole);
        EXPECT_FALSE(machine.open());
    }
}

TEST_F(respawning, a_round_that_stands_forgets_the_failures) {
    for (int i = 0; i < 4; ++i)
        (void)round(0, 1);
    EXPECT_EQ(machine.streak(), 3U);
    now += 59s;
    EXPECT_EQ(look(1, 1).again, now + 1s);
    now += 1s;
    const auto stood = look(1, 1);
    EXPECT_FALSE(stood.again);
    EXPECT_EQ(stood.what, event::none) << "the circuit was not open";
    EXPECT_EQ(machine.streak(), 0U);
    EXPECT_LE(round(0, 1), 1s);
}

TEST_F(respawning, five_failed_rounds_open_the_circuit) {
    for (int i = 0; i < 5; ++i) {
        EXPECT_FALSE(machine.open());
        (void)round(2, 4);
    }
    const auto opened = look(2, 4);
    EXPECT_EQ(opened.what, event::opened);
    EXPECT_EQ(opened.again, now + 300s);
    EXPECT_EQ(opened.spawn, 0U);
    EXPECT_TRUE(machine.open());
}

class open_circuit : public respawning {
protected:
    void SetUp() override {
        for (int i = 0; i < 5; ++i)
            (void)round(0, 3);
        (void)look(0, 3);
        ASSERT_TRUE(machine.open());
    }
};

TEST_F(open_circuit, tries_one_every_five_minutes) {
    for (int i = 0; i < 5; ++i) {
        now += 299s;
        EXPECT_EQ(look(0, 3).spawn, 0U);
        now += 1s;
        const auto probe = look(0, 3);
        EXPECT_EQ(probe.spawn, 1U);
        EXPECT_EQ(probe.what, event::probing);
        now += 1s;  // it died
        EXPECT_EQ(look(0, 3).again, now + 300s);
        EXPECT_TRUE(machine.open());
    }
}

TEST_F(open_circuit, a_probe_that_stands_closes_it) {
    now += 300s;
    EXPECT_EQ(look(0, 3).spawn, 1U);
    now += 30s;
    EXPECT_EQ(look(1, 3).again, now + 30s);
    now += 30s;
    const auto closed = look(1, 3);
    EXPECT_EQ(closed.what, event::closed);
    EXPECT_FALSE(machine.open());
    ASSERT_TRUE(closed.again) << "the others are missing still";
    EXPECT_LE(*closed.again, now + 1s);
    now = *closed.again;
    EXPECT_EQ(look(1, 3).spawn, 2U);
}

TEST_F(respawning, fewer_wanted_meanwhile_is_no_failure) {
    (void)round(1, 4);
    EXPECT_EQ(look(4, 4).spawn, 0U);
    now += 10s;
    EXPECT_EQ(look(2, 2).spawn, 0U) << "two were taken away";
    now += 50s;
    EXPECT_FALSE(look(2, 2).again);
    EXPECT_EQ(machine.streak(), 0U);
}

TEST_F(respawning, more_wanted_meanwhile_waits_its_turn) {
    (void)round(0, 1);
    now += 60s;
    const auto next = look(1, 2);
    EXPECT_EQ(next.spawn, 0U);
    EXPECT_TRUE(next.again);
}

}  // namespace
}  // namespace shove::decide
