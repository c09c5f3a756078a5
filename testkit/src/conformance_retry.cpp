#include "stage.hpp"

#include <stdexcept>

namespace shove::testkit {
namespace {

wall_time wall_now() {
    return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

void then_ack(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(5ms).dlq(); });
    on.publisher().publish(topic, a_body);
    const probe handler([](const seen& call, const delivery&) { return call.attempt == 1 ? retry("not now") : ack; });
    auto consuming = on.consume(topic, handler);
    const auto calls = handler.wait(2);
    EXPECT_EQ(calls[0].attempt, 1U);
    EXPECT_FALSE(calls[0].redelivered);
    EXPECT_EQ(calls[1].attempt, 2U);
    EXPECT_TRUE(calls[1].redelivered);
    EXPECT_EQ(calls[1].retries, 1U);
    EXPECT_EQ(calls[1].first_error, "not now");
    EXPECT_EQ(calls[1].last_error, "not now");
    on.wait_empty(queue_of(topic));
    consuming.stop();
    const auto stats = consuming.stats(queue_of(topic));
    EXPECT_EQ(stats.retried, 1U);
    EXPECT_EQ(stats.acked, 1U);
    EXPECT_EQ(stats.dead_lettered, 0U);
    EXPECT_EQ(on.broker().depth(dead_queue_of(topic)).ready, 0U);
}

/// G4: a message that always fails is called `1 + max_retries` times, then it is dead, with its story.
void exhaust(stage& on, std::uint32_t max_retries) {
    const auto topic = on.topic([](auto t) { return t.hold(2ms).dlq(); });
    const auto before = wall_now() - 1ms;
    on.publisher().publish(topic, a_body);
    const probe handler(
        [](const seen& call, const delivery&) { return retry("failure " + std::to_string(call.attempt)); });
    auto consuming = on.consume(topic, handler, consumer_options{.max_retries = max_retries});
    on.wait_ready(dead_queue_of(topic), 1);
    consuming.stop();
    const auto calls = handler.all();
    ASSERT_EQ(calls.size(), 1 + max_retries);
    for (std::size_t i = 0; i < calls.size(); ++i)
        EXPECT_EQ(calls[i].attempt, i + 1);
    const auto letter = on.take_dead(topic, 1).front();
    ASSERT_TRUE(letter.death);
    EXPECT_EQ(letter.death->reason, "max_retries_exceeded");
    EXPECT_EQ(letter.death->original_queue, queue_of(topic));
    EXPECT_EQ(letter.death->count, 1U);
    EXPECT_EQ(letter.attempt, 1 + max_retries) << "the last call's number";
    EXPECT_EQ(letter.first_error, "failure 1");
    EXPECT_EQ(letter.last_error, "failure " + std::to_string(1 + max_retries));
    EXPECT_LE(before, letter.first_failed_at);
    EXPECT_LE(letter.first_failed_at, letter.last_failed_at);
    EXPECT_LE(letter.last_failed_at, letter.death->at);
    EXPECT_LE(letter.death->at, wall_now() + 1ms);
    EXPECT_EQ(letter.crashes, 0U);
    EXPECT_EQ(consuming.stats(queue_of(topic)).calls, 1 + max_retries);
    EXPECT_EQ(consuming.stats(queue_of(topic)).retried, max_retries);
    EXPECT_EQ(consuming.stats(queue_of(topic)).dead_lettered, 1U);
}

void exhausted(stage& on) {
    exhaust(on, 3);
}
void exhausted_at_once(stage& on) {
    exhaust(on, 0);
}

void default_is_ten(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    on.publisher().publish(topic, a_body);
    const probe handler(retry);
    auto consuming = on.consume(topic, handler);
    on.wait_ready(dead_queue_of(topic), 1);
    EXPECT_EQ(handler.size(), 11U);
}

void without_holds(stage& on) {
    const auto topic = on.topic([](auto t) { return t.dlq(); });
    on.publisher().publish(topic, a_body);
    const probe handler(retry);
    auto consuming = on.consume(topic, handler, consumer_options{.max_retries = 2});
    on.wait_ready(dead_queue_of(topic), 1);
    EXPECT_EQ(handler.size(), 3U);
}

void exhausted_without_dlq(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms); });
    on.publisher().publish(topic, a_body);
    const probe handler(retry);
    auto consuming = on.consume(topic, handler, consumer_options{.max_retries = 2});
    handler.wait(3);
    on.wait_empty(queue_of(topic));
    consuming.stop();
    EXPECT_EQ(handler.size(), 3U);
    EXPECT_EQ(consuming.stats(queue_of(topic)).discarded, 1U);
    EXPECT_EQ(consuming.stats(queue_of(topic)).dead_lettered, 1U);
}

void defer_costs_nothing(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    on.publisher().publish(topic, a_body);
    const counter count;
    const probe handler([count](const seen&, const delivery&) { return count.add() < 30 ? defer : ack; });
    auto consuming = on.consume(topic, handler, consumer_options{.max_retries = 2});
    for (const auto& call : handler.wait(30))
        EXPECT_EQ(call.attempt, 1U);
    EXPECT_TRUE(handler.all().back().redelivered) << "a deferred message was handled before";
    EXPECT_TRUE(handler.all().back().last_error.empty());
    on.wait_empty(queue_of(topic));
    EXPECT_EQ(on.broker().depth(dead_queue_of(topic)).ready, 0U);
    EXPECT_EQ(consuming.stats(queue_of(topic)).deferred, 29U);
}

void defer_between_retries(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    on.publisher().publish(topic, a_body);
    const counter count;
    const probe handler([count](const seen&, const delivery&) {
        const outcome answers[] = {defer, defer, retry, defer, retry, ack};
        return answers[count.add() - 1];
    });
    auto consuming = on.consume(topic, handler, consumer_options{.max_retries = 2});
    std::vector<std::uint32_t> attempts;
    for (const auto& call : handler.wait(6))
        attempts.push_back(call.attempt);
    EXPECT_EQ(attempts, (std::vector<std::uint32_t>{1, 1, 1, 2, 2, 3}));
}

void waiting_does_not_block_others(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1h); });
    std::vector<std::string> bodies;
    ASSERT_TRUE(on.publisher().publish_batch(topic, numbered(bodies, 30)).all_stored());
    const probe handler(
        [](const seen& call, const delivery&) { return call.payload < numbered_body(15) ? retry : ack; });
    auto consuming = on.consume(topic, handler, consumer_options{.prefetch = 3}.sequential());
    handler.wait(30, "messages behind waiting ones");
    on.wait_ready(queue_of(topic), 0);
    eventually("the waiting ones are delayed", [&] { return on.broker().depth(queue_of(topic)).delayed > 0; });
}

void throws_std(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    on.publisher().publish(topic, a_body);
    const probe handler([](const seen& call, const delivery&) -> outcome {
        throw std::runtime_error("thrown \xe2\x82\xac " + std::to_string(call.attempt));
    });
    auto consuming = on.consume(topic, handler, consumer_options{.max_retries = 1});
    const auto letter = on.take_dead(topic, 1).front();
    EXPECT_EQ(letter.death->reason, "max_retries_exceeded");
    EXPECT_EQ(letter.first_error, "thrown \xe2\x82\xac 1");
    EXPECT_EQ(letter.last_error, "thrown \xe2\x82\xac 2");
    EXPECT_EQ(handler.size(), 2U);
    EXPECT_EQ(consuming.stats(queue_of(topic)).exceptions, 2U);
}

void throws_other(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    on.publisher().publish(topic, a_body);
    const probe handler([](const seen& call, const delivery&) -> outcome {
        if (call.attempt == 1) throw 42;
        return ack;
    });
    auto consuming = on.consume(topic, handler);
    const auto calls = handler.wait(2);
    EXPECT_EQ(calls[1].attempt, 2U);
    EXPECT_FALSE(calls[1].last_error.empty());
    on.wait_empty(queue_of(topic));
}

/// The end of a text that was cut: nothing of a character may be missing.
bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
        if (length == 0 || i + length > text.size()) return false;
        for (std::size_t k = 1; k < length; ++k) {
            if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return false;
        }
        i += length;
    }
    return true;
}

void huge_exception(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    for (std::size_t shift = 0; shift < 4; ++shift)
        on.publisher().publish(topic, numbered_body(shift));
    const probe handler([](const seen& call, const delivery&) -> outcome {
        std::string text(number_in(call.payload), 'x');
        while (text.size() < 1024 * 1024)
            text += "\xf0\x9f\xa6\x80";
        throw std::runtime_error(text);
    });
    auto consuming = on.consume(topic, handler, consumer_options{.max_retries = 1});
    for (const auto& letter : on.take_dead(topic, 4)) {
        EXPECT_EQ(letter.death->reason, "max_retries_exceeded");
        EXPECT_GT(letter.last_error.size(), 1000U);
        EXPECT_LE(letter.last_error.size(), 2048U);
        EXPECT_TRUE(is_utf8(letter.last_error)) << "cut inside a character";
        EXPECT_TRUE(is_utf8(letter.first_error));
    }
}

void exception_text_not_utf8(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    on.publisher().publish(topic, a_body);
    const probe handler([](const seen&, const delivery&) -> outcome {
        throw std::runtime_error(std::string("bad \xff\xfe and \0 zero", 17));
    });
    auto consuming = on.consume(topic, handler, consumer_options{.max_retries = 0});
    const auto letter = on.take_dead(topic, 1).front();
    EXPECT_TRUE(is_utf8(letter.last_error)) << letter.last_error;
    EXPECT_NE(letter.last_error.find("bad"), std::string::npos);
}

void throwing_consumer_goes_on(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1h); });
    std::vector<std::string> bodies;
    ASSERT_TRUE(on.publisher().publish_batch(topic, numbered(bodies, 100)).all_stored());
    const probe handler([](const seen&, const delivery&) -> outcome { throw std::runtime_error("each time"); });
    auto consuming = on.consume(topic, handler);
    handler.wait(100);
    EXPECT_TRUE(consuming.stop().clean()) << "exceptions of handlers are no errors of the consumer";
}

}  // namespace

void add_retry_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"retry", "then_ack", &then_ack},
                            {"retry", "exhausted", &exhausted},
                            {"retry", "exhausted_at_once", &exhausted_at_once},
                            {"retry", "default_is_ten", &default_is_ten},
                            {"retry", "without_holds", &without_holds},
                            {"retry", "exhausted_without_dlq", &exhausted_without_dlq},
                            {"retry", "defer_costs_nothing", &defer_costs_nothing},
                            {"retry", "defer_between_retries", &defer_between_retries},
                            {"retry", "waiting_does_not_block_others", &waiting_does_not_block_others},
                        });
}

void add_exception_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"exceptions", "throws_std", &throws_std},
                            {"exceptions", "throws_other", &throws_other},
                            {"exceptions", "huge_exception", &huge_exception},
                            {"exceptions", "exception_text_not_utf8", &exception_text_not_utf8},
                            {"exceptions", "throwing_consumer_goes_on", &throwing_consumer_goes_on},
                        });
}

}  // namespace shove::testkit
