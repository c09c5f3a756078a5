#include "stage.hpp"

namespace shove::testkit {
namespace {

void ack_removes(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    on.publisher().publish(topic, a_body);
    const probe handler;
    auto consuming = on.consume(topic, handler);
    handler.wait(1);
    on.wait_empty(queue_of(topic));
    EXPECT_TRUE(consuming.stop().clean());
    const auto stats = consuming.stats(queue_of(topic));
    EXPECT_EQ(stats.received, 1U);
    EXPECT_EQ(stats.calls, 1U);
    EXPECT_EQ(stats.acked, 1U);
    EXPECT_EQ(stats.retried + stats.deferred + stats.dead_lettered + stats.released, 0U);
    EXPECT_EQ(stats.running + stats.unsettled, 0U);
    EXPECT_EQ(handler.size(), 1U);
    EXPECT_EQ(on.broker().depth(dead_queue_of(topic)).ready, 0U);
}

void bare_message(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    on.publisher().publish(topic, "");
    const probe handler([](const seen& call, const delivery&) { return call.attempt < 3 ? retry : reject; });
    auto consuming = on.consume(topic, handler);
    for (const auto& call : handler.wait(3)) {
        EXPECT_TRUE(call.payload.empty());
        EXPECT_TRUE(call.headers.empty());
        EXPECT_EQ(call.key, std::nullopt);
    }
    EXPECT_TRUE(on.take_dead(topic, 1).front().payload.empty());
}

void wakes_idle_consumer(stage& on) {
    const auto topic = on.topic();
    const probe handler;
    auto consuming = on.consume(topic, handler);
    for (std::size_t i = 1; i <= 20; ++i) {
        on.publisher().publish(topic, a_body);
        handler.wait(i, "a message published to an idle consumer");
    }
}

void nothing_lost_or_doubled(stage& on) {
    const auto topic = on.topic();
    std::vector<std::string> bodies;
    const probe handler;
    auto consuming = on.consume(topic, handler, consumer_options{.consumers = 3});
    ASSERT_TRUE(on.publisher().publish_batch(topic, numbered(bodies, 1000)).all_stored());
    handler.wait(1000);
    on.wait_empty(queue_of(topic));
    EXPECT_TRUE(consuming.stop().clean());
    EXPECT_EQ(handler.size(), 1000U) << "a message was handled twice";
    EXPECT_EQ(consuming.stats(queue_of(topic)).acked, 1000U);
}

void several_topics(stage& on) {
    const auto one = on.topic();
    const auto two = on.topic();
    const probe of_one;
    const probe of_two;
    auto consuming = running(on.group().add(one, of_one).add(two, of_two));
    on.publisher().publish(one, "for one");
    on.publisher().publish(two, "for two");
    EXPECT_EQ(of_one.wait(1).front().payload, "for one");
    EXPECT_EQ(of_two.wait(1).front().payload, "for two");
    EXPECT_EQ(of_one.size() + of_two.size(), 2U);
}

void bad_options_refused(stage& on) {
    const auto topic = on.topic([](auto t) { return t.dlq(); });
    const auto without_dlq = on.topic();
    const auto code_of = [&](const consumer_options& how) {
        try {
            on.group().add(topic, probe(), how);
        } catch (const exception& e) {
            EXPECT_NE(std::string(e.what()).find(queue_of(topic)), std::string::npos) << e.what();
            return e.cause().code;
        }
        return error_code();
    };
    const auto invalid = make_error_code(errc::invalid_argument);
    EXPECT_EQ(code_of({.prefetch = 0}), invalid);
    EXPECT_EQ(code_of({.consumers = 0}), invalid);
    EXPECT_EQ(code_of({.consumers = {3, 2}}), invalid);
    EXPECT_EQ(code_of({.handler_timeout = 0ms}), invalid);
    EXPECT_EQ(code_of({.handler_timeout = -1ms}), invalid);
    EXPECT_EQ(code_of({.timeout_grace = -1ms}), invalid);
    EXPECT_THROW(on.group().add(topic, probe()).add(topic, probe()), exception) << "registered twice";
    EXPECT_THROW(on.group().add_dead(without_dlq, probe()), exception) << "no dead-letter queue";
}

void add_after_start_refused(stage& on) {
    const auto topic = on.topic();
    const auto other = on.topic();
    auto group = on.group();
    group.add(topic, probe());
    group.start();
    EXPECT_THROW(group.add(other, probe()), exception);
    EXPECT_THROW(group.start(), exception) << "started twice";
    EXPECT_TRUE(group.stop(patience()).clean());
}

void unstarted_group_stops(stage& on) {
    const auto topic = on.topic();
    auto group = on.group();
    group.add(topic, probe());
    EXPECT_TRUE(group.stop(1s).clean());
}

/// Messages of a size around the limit.
void size_limit(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    publish_options how;
    how.headers.add("kept", 7);
    const auto over = every_byte(101);
    on.publisher().publish(topic, every_byte(100), how);
    const auto id = on.publisher().publish(topic, over, how).id();
    const probe handler;
    auto consuming = on.consume(topic, handler, consumer_options{.max_message_bytes = 100});
    const auto letter = on.take_dead(topic, 1).front();
    EXPECT_TRUE(letter.payload == over);
    EXPECT_EQ(letter.id, id);
    EXPECT_EQ(letter.headers.view().find("kept")->as_integer(), 7);
    ASSERT_TRUE(letter.death);
    EXPECT_EQ(letter.death->reason, "oversize");
    EXPECT_NE(letter.last_error.find("101"), std::string::npos) << letter.last_error;
    handler.wait(1);
    consuming.stop();
    EXPECT_EQ(handler.size(), 1U) << "the larger one was handled";
    const auto stats = consuming.stats(queue_of(topic));
    EXPECT_EQ(stats.calls, 1U) << "what is refused unhandled is no call";
    EXPECT_EQ(stats.dead_lettered, 1U);
}

void stats_of_unknown_queue(stage& on) {
    const auto topic = on.topic();
    auto consuming = on.consume(topic, probe());
    EXPECT_EQ(consuming.stats("no such queue").received, 0U);
}

}  // namespace

void add_consume_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"consume", "ack_removes", &ack_removes},
                            {"consume", "bare_message", &bare_message},
                            {"consume", "wakes_idle_consumer", &wakes_idle_consumer},
                            {"consume", "nothing_lost_or_doubled", &nothing_lost_or_doubled},
                            {"consume", "several_topics", &several_topics},
                            {"consume", "bad_options_refused", &bad_options_refused},
                            {"consume", "add_after_start_refused", &add_after_start_refused},
                            {"consume", "unstarted_group_stops", &unstarted_group_stops},
                            {"consume", "size_limit", &size_limit},
                            {"consume", "stats_of_unknown_queue", &stats_of_unknown_queue},
                        });
}

}  // namespace shove::testkit
