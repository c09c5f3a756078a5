#include "stage.hpp"

namespace shove::testkit {
namespace {

/// A handler whose first call ignores its stop token until a gate opens.
probe stubborn(gate hold, counter told) {
    return probe([hold, told](const seen& call, const delivery& info) {
        if (call.payload != "SECRET-stuck" || call.attempt > 1 || hold.is_open()) return ack;
        const std::stop_callback tell(info.stop_token(), [&] { told.add(); });
        hold.arrive();
        return ack;
    });
}

void settled_by_policy(stage& on) {
    const auto topic = on.topic([](auto t) { return t.dlq(); });
    on.publisher().publish(topic, "SECRET-stuck");
    const gate hold;
    const counter told;
    const auto handler = stubborn(hold, told);
    auto consuming =
        on.consume(topic, handler, consumer_options{.max_retries = 0, .handler_timeout = 30ms, .timeout_grace = 20ms});
    const opens_at_exit opener(hold);
    told.wait(1, "the stop token");
    const auto letter = on.take_dead(topic, 1).front();
    EXPECT_FALSE(hold.is_open()) << "settled while the call still runs";
    EXPECT_EQ(letter.death->reason, "max_retries_exceeded");
    EXPECT_NE(letter.last_error.find("timed out"), std::string::npos) << letter.last_error;
    EXPECT_NE(letter.last_error.find("30"), std::string::npos) << letter.last_error;
    auto stats = consuming.stats(queue_of(topic));
    EXPECT_EQ(stats.timeouts, 1U);
    EXPECT_EQ(stats.stuck, 1U);
    EXPECT_EQ(stats.running, 1U);
    hold.open();
    eventually("the stuck call has returned", [&] { return consuming.stats(queue_of(topic)).running == 0; });
    stats = consuming.stats(queue_of(topic));
    EXPECT_EQ(stats.stuck, 0U);
    EXPECT_EQ(stats.acked, 0U) << "the late answer counted";
    EXPECT_TRUE(consuming.stop().clean());
    EXPECT_EQ(handler.size(), 1U);
    on.wait_empty(queue_of(topic));
}

void stuck_call_keeps_its_slot(stage& on) {
    const auto topic = on.topic([](auto t) { return t.dlq(); });
    on.publisher().publish(topic, "SECRET-stuck");
    on.publisher().publish(topic, "behind it");
    const gate hold;
    const counter told;
    const auto handler = stubborn(hold, told);
    auto consuming =
        on.consume(topic, handler,
                   consumer_options{.max_retries = 0, .handler_timeout = 30ms, .timeout_grace = 10ms}.sequential());
    const opens_at_exit opener(hold);
    on.wait_ready(dead_queue_of(topic), 1);
    until(std::chrono::steady_clock::now() + 50ms);
    EXPECT_EQ(handler.size(), 1U) << "a second call beside the stuck one";
    hold.open();
    EXPECT_EQ(handler.wait(2).back().payload, "behind it");
    on.wait_empty(queue_of(topic));
}

void answer_within_grace_counts(stage& on) {
    const auto topic = on.topic([](auto t) { return t.dlq(); });
    on.publisher().publish(topic, a_body);
    const probe handler([](const seen&, const delivery& info) {
        const gate stopped;
        const std::stop_callback tell(info.stop_token(), [stopped] { stopped.open(); });
        return stopped.pass() ? ack : reject("never told to stop");
    });
    auto consuming =
        on.consume(topic, handler, consumer_options{.max_retries = 0, .handler_timeout = 20ms, .timeout_grace = 20s});
    handler.wait(1);
    on.wait_empty(queue_of(topic));
    consuming.stop();
    const auto stats = consuming.stats(queue_of(topic));
    EXPECT_EQ(stats.acked, 1U);
    EXPECT_EQ(stats.timeouts, 1U);
    EXPECT_EQ(stats.dead_lettered, 0U);
}

/// Answers `first_outcome` for a first call that times out; the second call acknowledges.
std::vector<seen> calls_with(stage& on, const runtime_topic& topic, outcome on_timeout, std::size_t calls) {
    on.publisher().publish(topic, "SECRET-stuck");
    const gate hold;
    const counter told;
    const auto handler = stubborn(hold, told);
    auto consuming = on.consume(
        topic, handler,
        consumer_options{
            .max_retries = 5, .handler_timeout = 20ms, .timeout_outcome = std::move(on_timeout), .timeout_grace = 5ms});
    const opens_at_exit opener(hold);
    told.wait(1, "the stop token");
    eventually("the call was given up", [&] { return consuming.stats(queue_of(topic)).stuck == 1; });
    hold.open();
    auto seen_calls = handler.wait(calls);
    eventually("the call has returned", [&] { return consuming.stats(queue_of(topic)).running == 0; });
    return seen_calls;
}

void counts_as_retry(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(5ms).dlq(); });
    const auto calls = calls_with(on, topic, retry, 2);
    EXPECT_EQ(calls[1].attempt, 2U);
    EXPECT_NE(calls[1].last_error.find("timed out"), std::string::npos) << calls[1].last_error;
    on.wait_empty(queue_of(topic));
}

void as_reject(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    calls_with(on, topic, reject, 1);
    const auto letter = on.take_dead(topic, 1).front();
    EXPECT_EQ(letter.death->reason, "rejected");
    EXPECT_NE(letter.last_error.find("timed out"), std::string::npos) << letter.last_error;
}

void as_defer(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(5ms).dlq(); });
    on.publisher().publish(topic, "SECRET-stuck");
    const gate hold;
    const counter count;
    const probe handler([hold, count](const seen&, const delivery&) {
        if (count.add() == 1) hold.pass();
        return ack;
    });
    auto consuming = on.consume(
        topic, handler,
        consumer_options{.max_retries = 0, .handler_timeout = 20ms, .timeout_outcome = defer, .timeout_grace = 5ms});
    const opens_at_exit opener(hold);
    const auto calls = handler.wait(2, "the deferred message again");
    EXPECT_EQ(calls[1].attempt, 1U) << "a defer costs nothing";
    EXPECT_TRUE(calls[1].redelivered);
    on.wait_empty(queue_of(topic));
    EXPECT_EQ(on.broker().depth(dead_queue_of(topic)).ready, 0U);
}

void without_timeout(stage& on) {
    const auto topic = on.topic();
    on.publisher().publish(topic, a_body);
    const gate hold;
    const probe handler([hold](const seen&, const delivery& info) {
        hold.arrive();
        return info.stop_token().stop_requested() ? reject : ack;
    });
    auto consuming = on.consume(topic, handler, consumer_options{.handler_timeout = std::nullopt});
    const opens_at_exit opener(hold);
    hold.arrivals().wait(1, "the call");
    until(std::chrono::steady_clock::now() + 50ms);
    hold.open();
    on.wait_empty(queue_of(topic));
    EXPECT_EQ(consuming.stats(queue_of(topic)).acked, 1U);
}

void next_call_has_a_fresh_token(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms); });
    on.publisher().publish(topic, a_body);
    const recorder<bool> stopped_at_start;
    const probe handler([stopped_at_start](const seen& call, const delivery& info) -> outcome {
        stopped_at_start.add(info.stop_token().stop_requested());
        if (call.attempt > 1) return ack;
        const gate stopped;
        const std::stop_callback tell(info.stop_token(), [stopped] { stopped.open(); });
        stopped.pass();
        return retry;
    });
    auto consuming = on.consume(topic, handler, consumer_options{.handler_timeout = 20ms, .timeout_grace = 20s});
    EXPECT_EQ(stopped_at_start.wait(2, "calls"), (std::vector<bool>{false, false}));
    on.wait_empty(queue_of(topic));
}

void quick_calls_do_not_time_out(stage& on) {
    const auto topic = on.topic();
    std::vector<std::string> bodies;
    ASSERT_TRUE(on.publisher().publish_batch(topic, numbered(bodies, 300)).all_stored());
    const probe handler([](const seen&, const delivery&) {
        until(std::chrono::steady_clock::now() + 1ms);
        return ack;
    });
    auto consuming = on.consume(topic, handler, consumer_options{.handler_timeout = 2s});
    handler.wait(300);
    on.wait_empty(queue_of(topic));
    EXPECT_EQ(consuming.stats(queue_of(topic)).timeouts, 0U);
}

}  // namespace

void add_timeout_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"timeout", "settled_by_policy", &settled_by_policy},
                            {"timeout", "stuck_call_keeps_its_slot", &stuck_call_keeps_its_slot},
                            {"timeout", "answer_within_grace_counts", &answer_within_grace_counts},
                            {"timeout", "counts_as_retry", &counts_as_retry},
                            {"timeout", "as_reject", &as_reject},
                            {"timeout", "as_defer", &as_defer},
                            {"timeout", "without_timeout", &without_timeout},
                            {"timeout", "next_call_has_a_fresh_token", &next_call_has_a_fresh_token},
                            {"timeout", "quick_calls_do_not_time_out", &quick_calls_do_not_time_out},
                        });
}

}  // namespace shove::testkit
