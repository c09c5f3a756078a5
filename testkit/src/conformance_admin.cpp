#include "stage.hpp"

#include <algorithm>

namespace shove::testkit {
namespace {

/// Kills messages `m0`…, each with a reason that depends on its number: even ones are rejected, odd ones
/// exhaust their budget.
runtime_topic graveyard(stage& on, std::size_t n) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    std::vector<std::string> bodies;
    auto batch = numbered(bodies, n);
    for (auto& each : batch)
        each.options.headers.add("body", each.body);
    EXPECT_TRUE(on.publisher().publish_batch(topic, batch).all_stored());
    const probe handler([](const seen& call, const delivery&) {
        return (call.payload.back() - '0') % 2 == 0 ? reject("even") : retry("odd");
    });
    auto consuming = on.consume(topic, handler, consumer_options{.max_retries = 0}.sequential());
    on.wait_ready(dead_queue_of(topic), n);
    consuming.stop();
    return topic;
}

std::vector<std::string> bodies_in(stage& on, const std::string& queue, const letter_filter& filter = {}) {
    std::vector<std::string> made;
    on.broker().admin().browse(queue, filter, [&](const spi::browsed& each) {
        made.push_back(text_of(each.msg.payload()));
        return true;
    });
    return made;
}

void lists_queues(stage& on) {
    const auto topic = graveyard(on, 3);
    on.publisher().publish(topic, "SECRET-waiting");
    const auto queues = on.broker().admin().queues();
    const auto found = std::ranges::find(queues, queue_of(topic), &spi::queue_info::name);
    ASSERT_NE(found, queues.end());
    EXPECT_EQ(found->depth.ready, 1U);
    EXPECT_EQ(found->dead_letter_queue, dead_queue_of(topic));
    EXPECT_EQ(found->dead, 3U);
    if (on.factory().tells_age) {
        EXPECT_TRUE(found->depth.oldest_age);
    }
}

void browses_in_order(stage& on) {
    const auto topic = graveyard(on, 20);
    std::vector<std::string> expected;
    for (std::size_t i = 0; i < 20; ++i)
        expected.push_back(numbered_body(i));
    EXPECT_EQ(bodies_in(on, dead_queue_of(topic)), expected);
    EXPECT_EQ(on.broker().depth(dead_queue_of(topic)).ready, 20U) << "browsing took letters";
    std::size_t shown = 0;
    on.broker().admin().browse(dead_queue_of(topic), {}, [&](const spi::browsed& each) {
        EXPECT_EQ(each.past ? each.past->original_queue : "", queue_of(topic));
        return ++shown < 5;
    });
    EXPECT_EQ(shown, 5U) << "false ends it";
}

void filters(stage& on) {
    const auto topic = graveyard(on, 10);
    const auto& dead = dead_queue_of(topic);
    letter_filter even;
    even.reason = "rejected";
    EXPECT_EQ(bodies_in(on, dead, even), (std::vector<std::string>{numbered_body(0), numbered_body(2), numbered_body(4),
                                                                   numbered_body(6), numbered_body(8)}));
    letter_filter match;
    match.match = "7";
    EXPECT_EQ(bodies_in(on, dead, match), std::vector<std::string>{numbered_body(7)});
    letter_filter both = match;
    both.reason = "rejected";
    EXPECT_TRUE(bodies_in(on, dead, both).empty());
    letter_filter limit;
    limit.limit = 3;
    EXPECT_EQ(bodies_in(on, dead, limit),
              (std::vector<std::string>{numbered_body(0), numbered_body(1), numbered_body(2)}));
    letter_filter future;
    future.since = std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now() + 1h);
    EXPECT_TRUE(bodies_in(on, dead, future).empty());
    letter_filter past;
    past.since = std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now() - 1h);
    EXPECT_EQ(bodies_in(on, dead, past).size(), 10U);
}

void replays_in_order(stage& on) {
    const auto topic = graveyard(on, 100);
    const auto done = on.broker().admin().replay(dead_queue_of(topic), "", {});
    EXPECT_EQ(done.seen, 100U);
    EXPECT_EQ(done.matched, 100U);
    EXPECT_EQ(done.done, 100U);
    EXPECT_EQ(on.broker().depth(dead_queue_of(topic)).ready, 0U);
    EXPECT_EQ(on.broker().depth(queue_of(topic)).ready, 100U);
    const probe handler;
    auto consuming = on.consume(topic, handler, consumer_options{}.sequential());
    const auto calls = handler.wait(100);
    for (std::size_t i = 0; i < 100; ++i) {
        EXPECT_EQ(calls[i].payload, numbered_body(i));
        EXPECT_EQ(calls[i].headers.view().text("body"), calls[i].payload);
        EXPECT_EQ(calls[i].attempt, 1U);
        EXPECT_TRUE(calls[i].last_error.empty());
        EXPECT_FALSE(calls[i].death);
    }
}

void replays_filtered(stage& on) {
    const auto topic = graveyard(on, 10);
    letter_filter odd;
    odd.reason = "max_retries_exceeded";
    odd.limit = 2;
    const auto done = on.broker().admin().replay(dead_queue_of(topic), "", odd);
    EXPECT_EQ(done.done, 2U);
    EXPECT_EQ(bodies_in(on, queue_of(topic)), (std::vector<std::string>{numbered_body(1), numbered_body(3)}));
    EXPECT_EQ(bodies_in(on, dead_queue_of(topic)).size(), 8U);
}

void replays_elsewhere(stage& on) {
    const auto topic = graveyard(on, 2);
    const auto other = on.topic();
    EXPECT_EQ(on.broker().admin().replay(dead_queue_of(topic), queue_of(other), {}).done, 2U);
    EXPECT_EQ(on.broker().depth(queue_of(other)).ready, 2U);
    EXPECT_EQ(on.broker().depth(queue_of(topic)).ready, 0U);
}

void counts_replays(stage& on) {
    const auto topic = on.topic([](auto t) { return t.dlq(); });
    on.publisher().publish(topic, a_body);
    for (int round = 1; round <= 3; ++round) {
        auto consuming = on.consume(topic, probe(reject));
        on.wait_ready(dead_queue_of(topic), 1);
        consuming.stop();
        ASSERT_EQ(on.broker().admin().replay(dead_queue_of(topic), "", {}).done, 1U);
    }
    const auto got = on.take(topic, 1).front();
    EXPECT_EQ(got.headers.view().find("x-shove-replays")->as_integer(), 3);
    EXPECT_EQ(got.headers.view().size(), 1U);
}

void purges(stage& on) {
    const auto topic = graveyard(on, 10);
    letter_filter even;
    even.reason = "rejected";
    EXPECT_EQ(on.broker().admin().purge(dead_queue_of(topic), even).done, 5U);
    EXPECT_EQ(bodies_in(on, dead_queue_of(topic)).size(), 5U);
    EXPECT_EQ(on.broker().admin().purge(dead_queue_of(topic), {}).done, 5U);
    EXPECT_EQ(on.broker().depth(dead_queue_of(topic)).ready, 0U);
}

void unknown_queue_refused(stage& on) {
    on.topic();
    const auto name = on.fresh_name("unknown");
    EXPECT_THROW(on.broker().admin().purge(name, {}), exception);
    EXPECT_THROW(on.broker().admin().replay(name, "", {}), exception);
    EXPECT_THROW(bodies_in(on, name), exception);
}

}  // namespace

void add_admin_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"admin", "lists_queues", &lists_queues, {needs_admin}},
                            {"admin", "browses_in_order", &browses_in_order, {needs_admin}},
                            {"admin", "filters", &filters, {needs_admin}},
                            {"admin", "replays_in_order", &replays_in_order, {needs_admin}},
                            {"admin", "replays_filtered", &replays_filtered, {needs_admin}},
                            {"admin", "replays_elsewhere", &replays_elsewhere, {needs_admin}},
                            {"admin", "counts_replays", &counts_replays, {needs_admin}},
                            {"admin", "purges", &purges, {needs_admin}},
                            {"admin", "unknown_queue_refused", &unknown_queue_refused, {needs_admin}},
                        });
}

}  // namespace shove::testkit
