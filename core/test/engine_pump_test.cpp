#include "engine_fixture.hpp"

namespace shove::test {
namespace {

class engine_pump : public engine_test {};

std::vector<std::string> bodies(std::size_t n) {
    std::vector<std::string> made;
    for (std::size_t i = 0; i < n; ++i)
        made.push_back("m" + std::to_string(i));
    return made;
}

TEST_F(engine_pump, declares_subscribes_and_asks_for_prefetch) {
    start(always(ack), {.prefetch = 7});
    const auto lines = driver().log().wait(3, "operations");
    EXPECT_EQ(lines, (std::vector<std::string>{"declare orders", "subscribe orders", "receive 7"}));
}

TEST_F(engine_pump, each_consumer_subscribes) {
    start(always(ack), {.consumers = 3});
    eventually("three receives", [&] { return driver().count("receive") == 3; });
    EXPECT_EQ(driver().count("subscribe"), 3U);
}

TEST_F(engine_pump, settles_a_lone_message_without_waiting) {
    start(always(ack));
    driver().deliver("only");
    const auto settled = driver().settled().wait(1, "the settlement");  // the clock stands still
    EXPECT_EQ(settled.front().kind, settlement_kind::complete);
}

TEST_F(engine_pump, settles_in_batches) {
    start(always(ack), consumer_options{.prefetch = 64}.sequential());
    driver().deliver(bodies(64));
    driver().settled().wait(64, "settlements");
    EXPECT_LE(driver().batches().size(), 8U) << "settled one by one";
}

TEST_F(engine_pump, decided_settlement_waits_five_milliseconds_at_most) {
    const gate hold;
    start(
        [hold](std::span<const std::byte> body, const delivery&) {
            if (text_of(body) == "m1") hold.arrive();
            return ack;
        },
        consumer_options{.prefetch = 100}.sequential());
    const opens_at_exit opener(hold);
    driver().deliver(bodies(3));
    hold.arrivals().wait(1, "the second call");
    EXPECT_EQ(driver().settled().size(), 0U);
    ASSERT_TRUE(clock->wait_for_pending(2, 2s)) << "no timer for it (the other one watches the calls)";
    clock->advance(5ms);
    EXPECT_EQ(driver().settled().size(), 1U) << "it waits for the slow call";
    EXPECT_FALSE(hold.is_open());
}

TEST_F(engine_pump, a_call_slow_for_once_holds_up_others_for_five_milliseconds_at_most) {
    const gate hold;
    start(
        [hold](std::span<const std::byte> body, const delivery&) {
            if (text_of(body) == "slow") hold.arrive();
            return ack;
        },
        {.prefetch = 100});
    const opens_at_exit opener(hold);
    std::size_t handled = 0;
    for (int i = 0; i < 60; ++i) {  // so many that its calls count as quick
        driver().deliver(bodies(64));
        driver().settled().wait(handled += 64, "quick calls");
    }
    driver().deliver({"slow", "a", "b"});
    hold.arrivals().wait(1, "the slow call");
    eventually("the others", [&] {
        clock->advance(1ms);
        return driver().settled().size() == handled + 2;
    });
    EXPECT_FALSE(hold.is_open());
}

TEST_F(engine_pump, goes_on_receiving_while_calls_run) {
    const gate hold;
    start(
        [hold](std::span<const std::byte> body, const delivery&) {
            if (text_of(body) == "m0") hold.arrive();
            return ack;
        },
        {.prefetch = 2});
    const opens_at_exit opener(hold);
    driver().deliver("m0");
    hold.arrivals().wait(1, "the first call");
    for (int i = 1; i <= 50; ++i)
        driver().deliver("m" + std::to_string(i));
    driver().settled().wait(50, "settlements beside a slow call");
}

TEST_F(engine_pump, keeps_the_ports_rules_under_load) {
    start(always(ack), {.consumers = 2, .prefetch = 5});
    for (int i = 0; i < 200; ++i)
        driver().deliver(bodies(5));
    driver().settled().wait(1000, "settlements");
    wait_settled();
    eventually("counted", [&] { return stats().acked == 1000 && stats().unsettled == 0; });
    EXPECT_EQ(stats().received, 1000U);
}

TEST_F(engine_pump, retry_uses_the_tiers_in_order) {
    start(always(retry("no")));
    for (std::uint32_t retries = 0; retries < 4; ++retries) {
        spi::history past;
        past.retries = retries;
        driver().deliver("body", past);
        const auto item = driver().settled().wait(retries + 1, "the settlement").back();
        EXPECT_EQ(item.kind, settlement_kind::delay);
        EXPECT_EQ(item.tier, std::min<std::size_t>(retries, 1));
        EXPECT_EQ(item.delay, retries == 0 ? 10ms : 50ms);
        EXPECT_EQ(item.past.retries, retries + 1);
        EXPECT_EQ(item.past.last_error, "no");
    }
}

TEST_F(engine_pump, defer_uses_the_first_tier_at_no_cost) {
    start(always(defer));
    spi::history past;
    past.retries = 3;
    driver().deliver("body", past);
    const auto item = driver().settled().wait(1, "the settlement").back();
    EXPECT_EQ(item.kind, settlement_kind::delay);
    EXPECT_EQ(item.tier, 0U);
    EXPECT_EQ(item.past.retries, 3U);
}

TEST_F(engine_pump, own_delay_takes_the_next_longer_tier_where_only_tiers_can) {
    start(always(retry_after(20ms)));
    driver().deliver("body");
    const auto item = driver().settled().wait(1, "the settlement").back();
    EXPECT_EQ(item.tier, 1U);
    EXPECT_EQ(item.delay, 50ms);
}

TEST_F(engine_pump, own_delay_is_exact_where_any_delay_can) {
    can.any_delay = true;
    start(always(retry_after(20ms)));
    driver().deliver("body");
    const auto item = driver().settled().wait(1, "the settlement").back();
    EXPECT_EQ(item.tier, std::nullopt);
    EXPECT_EQ(item.delay, 20ms);
}

TEST_F(engine_pump, dead_letters_carry_their_story) {
    start(always(reject("for good")));
    driver().deliver("body");
    const auto item = driver().settled().wait(1, "the settlement").back();
    EXPECT_EQ(item.kind, settlement_kind::dead_letter);
    EXPECT_EQ(item.past.death_reason, "rejected");
    EXPECT_EQ(item.past.original_queue, "orders");
    EXPECT_EQ(item.past.death_count, 1U);
    EXPECT_EQ(item.past.last_error, "for good");
    EXPECT_EQ(item.past.dead_at, clock->wall());
}

TEST_F(engine_pump, expired_by_the_injected_clock) {
    const counter calls;
    start([calls](std::span<const std::byte>, const delivery&) {
        calls.add();
        return ack;
    });
    auto item = testkit::make_delivery("stale");
    id_buffer buffer;
    auto parts = item.msg.parts(buffer);
    parts.expires_at = clock->wall() + 10s;
    item.msg = message::make(parts);
    auto again = testkit::make_delivery("stale");
    again.msg = item.msg;
    driver().deliver(std::move(item));
    driver().settled().wait(1, "the first settlement");
    EXPECT_EQ(calls.value(), 1U) << "not expired yet";
    clock->advance(10s);
    driver().deliver(std::move(again));
    EXPECT_EQ(driver().settled().wait(2, "the second settlement").back().past.death_reason, "expired");
    EXPECT_EQ(calls.value(), 1U);
}

TEST_F(engine_pump, dead_letter_that_is_not_acknowledged_comes_again_later) {
    auto burying = broker().consumer_group();
    burying.add_dead(topic(), always(reject));
    burying.start();
    spi::history past;
    past.death_reason = "rejected";
    past.retries = 2;
    driver().deliver("letter", past);
    const auto item = driver().settled().wait(1, "the settlement").back();
    EXPECT_EQ(item.kind, settlement_kind::delay);
    EXPECT_GE(item.delay, 1s) << "it would spin";
    EXPECT_EQ(item.past.retries, 2U);
    EXPECT_EQ(item.past.death_reason, "rejected");
    EXPECT_TRUE(burying.stop(10s).clean());
}

}  // namespace
}  // namespace shove::test
