#include "stage.hpp"

namespace shove::testkit {
namespace {

wall_time wall_now() {
    return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

struct delayed_topic : shove::topic<std::string, raw> {
    static constexpr auto topology = shove::topology("testkit-delayed").dlq();
};

/// Consumes delayed messages and tells when the one came.
steady_time when_called(stage& on) {
    const recorder<steady_time> calls;
    auto consuming = running(on.group().add<delayed_topic>([calls](const std::string&) {
        calls.add(std::chrono::steady_clock::now());
        return ack;
    }));
    return calls.wait(1, "the delayed message").front();
}

void publish_in(stage& on) {
    on.broker().declare<delayed_topic>();
    const auto from = std::chrono::steady_clock::now();
    on.publisher().publish_in<delayed_topic>(60ms, "SECRET-later");
    EXPECT_GE(when_called(on) - from, 60ms) << "handed out early";
}

void publish_at(stage& on) {
    on.broker().declare<delayed_topic>();
    const auto from = std::chrono::steady_clock::now();
    on.publisher().publish_at<delayed_topic>(wall_now() + 60ms, "SECRET-later");
    EXPECT_GE(when_called(on) - from, 58ms) << "handed out early";
}

void publish_at_in_the_past(stage& on) {
    on.broker().declare<delayed_topic>();
    on.publisher().publish_at<delayed_topic>(wall_now() - 1h, "at once");
    when_called(on);
}

void delayed_wake_idle_consumer(stage& on) {
    const auto topic = on.topic();
    const probe handler;
    auto consuming = on.consume(topic, handler);
    const auto from = std::chrono::steady_clock::now();
    on.publisher().publish(topic, "SECRET-second", delayed(600ms));
    on.publisher().publish(topic, "SECRET-first", delayed(300ms));
    on.publisher().publish(topic, "SECRET-now");
    const auto calls = handler.wait(3);
    EXPECT_EQ(payloads(calls), (std::vector<std::string>{"SECRET-now", "SECRET-first", "SECRET-second"}));
    EXPECT_GE(calls[1].called_at - from, 300ms);
    EXPECT_GE(calls[2].called_at - from, 600ms);
}

void expiry(stage& on) {
    const auto topic = on.topic([](auto t) { return t.dlq(); });
    publish_options how;
    how.expires_in = 20ms;
    how.headers.add("kept", "yes");
    const auto id = on.publisher().publish(topic, "SECRET-stale", how).id();
    publish_options fresh;
    fresh.expires_in = 1h;
    on.publisher().publish(topic, "SECRET-fresh", fresh);
    until(std::chrono::steady_clock::now() + 40ms);
    const probe handler;
    auto consuming = on.consume(topic, handler);
    const auto calls = handler.wait(1);
    EXPECT_EQ(calls.front().payload, "SECRET-fresh");
    ASSERT_TRUE(calls.front().expires_at);
    EXPECT_GT(*calls.front().expires_at, wall_now());
    const auto letter = on.take_dead(topic, 1).front();
    ASSERT_TRUE(letter.death);
    EXPECT_EQ(letter.death->reason, "expired");
    EXPECT_EQ(letter.id, id);
    EXPECT_EQ(letter.payload, "SECRET-stale");
    EXPECT_EQ(letter.headers.view().text("kept"), "yes");
    EXPECT_EQ(handler.size(), 1U) << "an expired message was handled";
}

void expiry_while_delayed(stage& on) {
    const auto topic = on.topic([](auto t) { return t.dlq(); });
    on.publisher().publish(topic, "SECRET-stale", expiring(10ms, 40ms));
    const probe handler;
    auto consuming = on.consume(topic, handler);
    EXPECT_EQ(on.take_dead(topic, 1).front().death->reason, "expired");
    EXPECT_EQ(handler.size(), 0U);
}

void expiry_without_dlq(stage& on) {
    const auto topic = on.topic();
    on.publisher().publish(topic, "SECRET-stale", expiring(5ms));
    until(std::chrono::steady_clock::now() + 20ms);
    const probe handler;
    auto consuming = on.consume(topic, handler);
    on.wait_empty(queue_of(topic));
    EXPECT_EQ(handler.size(), 0U);
    EXPECT_EQ(consuming.stats(queue_of(topic)).discarded, 1U);
}

void dead_letters_do_not_expire(stage& on) {
    const auto topic = on.topic([](auto t) { return t.dlq(); });
    on.publisher().publish(topic, "SECRET-stale", expiring(1h));
    on.publisher().publish(topic, "SECRET-staler", expiring(5ms));
    until(std::chrono::steady_clock::now() + 20ms);
    const probe handler(reject);
    auto consuming = on.consume(topic, handler);
    EXPECT_EQ(on.take_dead(topic, 2).size(), 2U);
}

void retry_not_early(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(50ms); });
    on.publisher().publish(topic, a_body);
    const probe handler([](const seen& call, const delivery&) { return call.attempt == 1 ? retry : ack; });
    auto consuming = on.consume(topic, handler);
    const auto calls = handler.wait(2);
    EXPECT_GE(calls[1].called_at - calls[0].called_at, 50ms) << "retried early";
}

void hold_tiers_in_order(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(10ms).hold(60ms).hold(30ms); });
    on.publisher().publish(topic, a_body);
    const probe handler([](const seen& call, const delivery&) { return call.attempt < 6 ? retry : ack; });
    auto consuming = on.consume(topic, handler);
    const auto calls = handler.wait(6);
    const milliseconds least[] = {10ms, 60ms, 30ms, 30ms, 30ms};
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_GE(calls[i + 1].called_at - calls[i].called_at, least[i]) << "before call " << i + 2;
    }
}

void defer_uses_first_tier(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(20ms).hold(1h); });
    on.publisher().publish(topic, a_body);
    const counter count;
    const probe handler([count](const seen&, const delivery&) { return count.add() < 4 ? defer : ack; });
    auto consuming = on.consume(topic, handler);
    const auto calls = handler.wait(4, "calls of a deferred message");
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_GE(calls[i + 1].called_at - calls[i].called_at, 20ms);
}

void retry_after_own_delay(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1h); });
    on.publisher().publish(topic, a_body);
    const probe handler(
        [](const seen& call, const delivery&) { return call.attempt == 1 ? retry_after(40ms, "not yet") : ack; });
    auto consuming = on.consume(topic, handler);
    const auto calls = handler.wait(2);
    EXPECT_GE(calls[1].called_at - calls[0].called_at, 40ms);
    EXPECT_EQ(calls[1].attempt, 2U);
    EXPECT_EQ(calls[1].last_error, "not yet");
}

}  // namespace

void add_time_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(),
              {
                  {"time", "publish_in", &publish_in, {needs_delayed_publish}},
                  {"time", "publish_at", &publish_at, {needs_delayed_publish}},
                  {"time", "publish_at_in_the_past", &publish_at_in_the_past, {needs_delayed_publish}},
                  {"time", "delayed_wake_idle_consumer", &delayed_wake_idle_consumer, {needs_delayed_publish}},
                  {"time", "expiry", &expiry},
                  {"time", "expiry_while_delayed", &expiry_while_delayed, {needs_delayed_publish}},
                  {"time", "expiry_without_dlq", &expiry_without_dlq},
                  {"time", "dead_letters_do_not_expire", &dead_letters_do_not_expire},
                  {"time", "retry_not_early", &retry_not_early},
                  {"time", "hold_tiers_in_order", &hold_tiers_in_order},
                  {"time", "defer_uses_first_tier", &defer_uses_first_tier},
                  {"time", "retry_after_own_delay", &retry_after_own_delay, {needs_any_delay}},
              });
}

}  // namespace shove::testkit
