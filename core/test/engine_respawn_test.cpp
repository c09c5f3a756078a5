#include "engine_fixture.hpp"

namespace shove::test {
namespace {

class engine_respawn : public engine_test {
protected:
    recorder<steady_time> subscribed;
    std::shared_ptr<std::atomic<bool>> refuses = std::make_shared<std::atomic<bool>>(false);

    void SetUp() override {
        driver().on_subscribe([subscribed = subscribed, refuses = refuses, clock = clock](const spi::source&) {
            const auto answer = *refuses ? error(errc::version_mismatch, "too new") : error();
            subscribed.add(clock->now());
            return answer;
        });
    }
    /// Ends so many consumers by an error.
    void kill(std::size_t n) {
        eventually("enough receive", [&] { return driver().receivers() >= n; });
        EXPECT_EQ(driver().break_receives(error(errc::closed, "gone for good"), n), n);
    }
    void wait_subscribed(std::size_t n, milliseconds step = 100ms) {
        advance_until("subscription " + std::to_string(n), step, [&] { return subscribed.size() >= n; });
    }
    bool was_said(std::string_view words) const {
        const auto lines = said.all();
        return std::ranges::any_of(lines, [&](const auto& l) { return l.find(words) != std::string::npos; });
    }
};

TEST_F(engine_respawn, replaces_a_consumer_that_ended_by_an_error) {
    start(always(ack), {.consumers = 2});
    const auto then = clock->now();
    kill(1);
    eventually("one is left", [&] { return stats().consumers == 1; });
    wait_subscribed(3);
    EXPECT_GE(subscribed.all().back() - then, 500ms) << "without a pause";
    eventually("two again", [&] { return stats().consumers == 2; });
    driver().deliver("body");
    driver().settled().wait(1, "a message");
    EXPECT_EQ(stats().respawned, 1U);
    EXPECT_EQ(driver().count("declare"), 2U) << "what was ours is declared again";
    const auto ended = group().stop(1h);
    EXPECT_EQ(ended.errors, 1U);
    EXPECT_EQ(ended.exit_code(), 1);
    ASSERT_EQ(ended.failures.size(), 1U);
    EXPECT_NE(ended.failures.front().find("orders"), std::string::npos);
    EXPECT_NE(ended.failures.front().find("gone for good"), std::string::npos);
}

TEST_F(engine_respawn, the_run_goes_on_though_all_ended) {
    group_for(always(ack), {.consumers = 2});
    std::stop_source stop;
    const auto running = aside([&] { return group().run_until(stop.get_token(), 1h); });
    kill(2);
    wait_subscribed(4);
    EXPECT_EQ(running.wait_for(1ms), std::future_status::timeout);
    stop.request_stop();
    EXPECT_EQ(running.get().errors, 2U);
}

TEST_F(engine_respawn, counts_of_the_dead_stay) {
    start(always(ack), {.prefetch = 1});
    driver().deliver("one");
    driver().settled().wait(1, "the first message");
    kill(1);
    wait_subscribed(2);
    driver().deliver("two");
    driver().settled().wait(2, "the second message");
    EXPECT_TRUE(group().stop(1h).errors == 1U);
    EXPECT_EQ(stats().acked, 2U);
    EXPECT_EQ(stats().received, 2U);
}

TEST_F(engine_respawn, the_circuit_opens_and_closes) {
    start(always(ack), {.consumers = 2});
    *refuses = true;
    kill(2);
    for (std::size_t round = 1; round <= 5; ++round)
        wait_subscribed(2 + 2 * round);
    eventually("said so", [&] { return was_said("5 attempts in a row"); });
    const auto tries = subscribed.all();
    for (std::size_t round = 2; round <= 5; ++round) {
        const auto pause = tries[2 * round] - tries[2 * round - 2];
        EXPECT_GE(pause, 500ms * (1 << (round - 1))) << "before round " << round;
    }
    clock->advance(299s);
    EXPECT_EQ(subscribed.size(), 12U);
    wait_subscribed(13, 1s);
    EXPECT_GE(subscribed.all().back() - tries.back(), 300s);
    eventually("said so", [&] { return was_said("trying one consumer"); });
    *refuses = false;
    clock->advance(299s);
    EXPECT_EQ(subscribed.size(), 13U) << "one at a time";
    wait_subscribed(14, 1s);
    eventually("one runs", [&] { return stats().consumers == 1; });
    wait_subscribed(15, 1s);
    EXPECT_GE(subscribed.all()[14] - subscribed.all()[13], 60s) << "the probe must stand first";
    EXPECT_TRUE(was_said("stay up again"));
    eventually("two run", [&] { return stats().consumers == 2; });
    const auto ended = group().stop(1h);
    EXPECT_EQ(ended.errors, 2U + 10 + 1);
    EXPECT_EQ(stats().respawned, 10U + 1 + 1 + 1);
}

TEST_F(engine_respawn, a_topology_that_is_refused_is_a_failed_round) {
    start(always(ack));
    driver().on_declare([](const queue_topology&) { return error(errc::topology_mismatch, "other settings"); });
    kill(1);
    advance_until("two attempts", 100ms, [&] { return driver().count("declare") == 3; });
    EXPECT_EQ(subscribed.size(), 1U);
    EXPECT_TRUE(was_said("other settings"));
    driver().on_declare([](const queue_topology&) { return error(errc::not_connected); });
    wait_subscribed(2);
}

TEST_F(engine_respawn, none_after_the_broker_was_closed) {
    group_for(always(ack));
    const auto running = aside([&] { return group().run_until({}, 1h); });
    kill(1);
    eventually("it ended", [&] { return stats().consumers == 0; });
    EXPECT_TRUE(broker().close(1h));
    EXPECT_EQ(running.get().errors, 1U);
    clock->advance(1h);
    EXPECT_EQ(subscribed.size(), 1U);
}

TEST_F(engine_respawn, a_drain_does_not_wait_for_it) {
    start(always(ack));
    kill(1);
    eventually("it ended", [&] { return stats().consumers == 0; });
    const auto ended = group().stop(1h);
    EXPECT_EQ(ended.errors, 1U);
    EXPECT_FALSE(ended.timed_out);
    clock->advance(1h);
    EXPECT_EQ(subscribed.size(), 1U);
}

TEST_F(engine_respawn, the_autoscaler_waits_for_it) {
    const recorder<scale_report> reports;
    driver().on_depth([](const std::string&) { return much(); });
    group_for(always(ack), {.consumers = {2, 4}});
    autoscaler_options how;
    how.poll = 100ms;
    how.hysteresis = 0ms;
    how.on_decision = [reports](const scale_report& what) { reports.add(what); };
    group().enable_autoscaling(how);
    group().start();
    kill(1);
    eventually("one is left", [&] { return stats().consumers == 1; });
    clock->advance(100ms);
    const auto report = reports.wait(1, "a report").front();
    EXPECT_EQ(report.changed, 0U);
    EXPECT_NE(report.decision.reason.find("1 of 2"), std::string::npos) << report.decision.reason;
    wait_subscribed(3);
    advance_until("one more", 100ms, [&] { return stats().consumers == 3; });
}

}  // namespace
}  // namespace shove::test
