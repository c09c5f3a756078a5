#include "engine_fixture.hpp"

namespace shove::test {
namespace {

class engine_timeout : public engine_test {
protected:
    gate hold;
    counter told;

    /// Tells when its stop token is signalled; returns when the gate opens.
    detail::raw_function stubborn() {
        return [hold = hold, told = told](std::span<const std::byte>, const delivery& info) {
            const std::stop_callback tell(info.stop_token(), [&] { told.add(); });
            hold.arrive();
            return ack;
        };
    }
};

TEST_F(engine_timeout, tells_then_settles_then_drops_the_late_answer) {
    start(stubborn(), {.handler_timeout = 30s, .timeout_grace = 1s});
    const opens_at_exit opener(hold);
    driver().deliver("body");
    hold.arrivals().wait(1, "the call");
    clock->advance(29'999ms);
    EXPECT_EQ(told.value(), 0U) << "too early";
    clock->advance(1ms);
    EXPECT_EQ(told.value(), 1U) << "the stop token";
    EXPECT_EQ(driver().settled().size(), 0U) << "settled before the grace";
    clock->advance(999ms);
    EXPECT_EQ(driver().settled().size(), 0U) << "settled before the grace";
    clock->advance(1ms);
    const auto item = driver().settled().wait(1, "the settlement").front();
    EXPECT_EQ(item.kind, settlement_kind::delay);
    EXPECT_EQ(item.past.retries, 1U);
    EXPECT_NE(item.past.last_error.find("30000 ms"), std::string::npos) << item.past.last_error;
    EXPECT_EQ(stats().stuck, 1U);
    EXPECT_EQ(stats().timeouts, 1U);
    EXPECT_EQ(stats().unsettled, 0U);
    hold.open();
    eventually("the late return", [&] { return stats().running == 0; });
    EXPECT_EQ(driver().settled().size(), 1U) << "settled twice";
    EXPECT_EQ(stats().stuck, 0U);
    EXPECT_EQ(stats().acked, 0U);
}

TEST_F(engine_timeout, each_call_has_its_own_time) {
    start(stubborn(), {.handler_timeout = 30s, .timeout_grace = 1h});
    const opens_at_exit opener(hold);
    driver().deliver("first");
    hold.arrivals().wait(1, "the first call");
    clock->advance(10s);
    driver().deliver("second");
    hold.arrivals().wait(2, "the second call");
    clock->advance(20s);
    EXPECT_EQ(told.value(), 1U);
    clock->advance(10s);
    EXPECT_EQ(told.value(), 2U);
}

TEST_F(engine_timeout, by_policy) {
    for (const auto& policy : {reject, defer, ack}) {
        gate stuck;
        auto group = broker().consumer_group();
        group.add(topic(),
                  [stuck](std::span<const std::byte>, const delivery&) {
                      stuck.arrive();
                      return ack;
                  },
                  {.handler_timeout = 10s, .timeout_outcome = policy, .timeout_grace = 0ms});
        group.start();
        const opens_at_exit opener(stuck);
        const auto before = driver().settled().size();
        driver().deliver("body");
        stuck.arrivals().wait(1, "the call");
        clock->advance(10s);
        const auto item = driver().settled().wait(before + 1, "the settlement").back();
        if (policy == reject) {
            EXPECT_EQ(item.kind, settlement_kind::dead_letter);
            EXPECT_EQ(item.past.death_reason, "rejected");
        } else if (policy == defer) {
            EXPECT_EQ(item.kind, settlement_kind::delay);
            EXPECT_EQ(item.past.retries, 0U);
        } else {
            EXPECT_EQ(item.kind, settlement_kind::complete);
        }
        stuck.open();
        EXPECT_TRUE(group.stop(1h).clean());
    }
}

TEST_F(engine_timeout, stuck_calls_use_up_the_room) {
    start(stubborn(), {.prefetch = 2, .max_retries = 0, .handler_timeout = 10s, .timeout_grace = 0ms});
    const opens_at_exit opener(hold);
    driver().deliver(std::vector<std::string>{"a", "b"});
    hold.arrivals().wait(2, "calls");
    clock->advance(10s);
    driver().settled().wait(2, "settlements");
    driver().deliver("c");
    clock->advance(1min);
    EXPECT_EQ(hold.arrivals().value(), 2U) << "a third call beside two stuck ones";
    hold.open();
    driver().settled().wait(3, "the third message");
}

TEST_F(engine_timeout, no_limit_means_none) {
    start(stubborn(), {.handler_timeout = std::nullopt});
    const opens_at_exit opener(hold);
    driver().deliver("body");
    hold.arrivals().wait(1, "the call");
    clock->advance(24h);
    EXPECT_EQ(told.value(), 0U);
    hold.open();
    EXPECT_EQ(driver().settled().wait(1, "the settlement").front().kind, settlement_kind::complete);
}

TEST_F(engine_timeout, calls_leave_no_timer_storm) {
    start(always(ack), {.handler_timeout = 30s});
    for (int i = 0; i < 500; ++i)
        driver().deliver("body");
    driver().settled().wait(500, "settlements");
    EXPECT_LE(clock->pending(), 5U) << "one timer per message";
    clock->advance(1min);
    EXPECT_EQ(stats().timeouts, 0U);
}

}  // namespace
}  // namespace shove::test
