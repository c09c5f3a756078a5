#include "stage.hpp"

#include <algorithm>
#include <future>
#include <set>
#include <stdexcept>

namespace shove::testkit {
namespace {

void fill(stage& on, const runtime_topic& topic, std::size_t n) {
    std::vector<std::string> bodies;
    ASSERT_TRUE(on.publisher().publish_batch(topic, numbered(bodies, n)).all_stored());
}

/// Holds every call at a gate.
probe held_at(gate hold) {
    return probe([hold](const seen&, const delivery&) {
        hold.arrive();
        return ack;
    });
}

std::future<run_outcome> stop_aside(running& group, milliseconds drain = patience()) {
    return std::async(std::launch::async, [&group, drain] { return group.stop(drain); });
}

void finishes_running(stage& on) {
    const auto topic = on.topic();
    fill(on, topic, 3);
    const gate hold;
    const auto handler = held_at(hold);
    auto consuming = on.consume(topic, handler, consumer_options{.prefetch = 3});
    const opens_at_exit opener(hold);
    hold.arrivals().wait(3, "calls");
    auto stopping = stop_aside(consuming);
    EXPECT_EQ(stopping.wait_for(50ms), std::future_status::timeout) << "it did not wait for running handlers";
    hold.open();
    const auto ended = stopping.get();
    EXPECT_TRUE(ended.clean());
    EXPECT_EQ(ended.exit_code(), 0);
    EXPECT_EQ(ended.left, 0U);
    EXPECT_EQ(consuming.stats(queue_of(topic)).acked, 3U);
    on.wait_empty(queue_of(topic));
}

void releases_unstarted(stage& on) {
    const auto topic = on.topic();
    fill(on, topic, 10);
    const gate hold;
    const auto handler = held_at(hold);
    auto consuming = on.consume(topic, handler, consumer_options{.prefetch = 10}.sequential());
    const opens_at_exit opener(hold);
    hold.arrivals().wait(1, "the first call");
    eventually("all are held", [&] { return consuming.stats(queue_of(topic)).unsettled == 10; });
    auto stopping = stop_aside(consuming);
    on.wait_ready(queue_of(topic), 9);  // given back while the first one still runs
    EXPECT_FALSE(hold.is_open());
    hold.open();
    EXPECT_TRUE(stopping.get().clean());
    EXPECT_EQ(handler.size(), 1U) << "a handler was started during the drain";
    const auto stats = consuming.stats(queue_of(topic));
    EXPECT_EQ(stats.acked, 1U);
    EXPECT_EQ(stats.released, 9U);
    const probe second;
    auto rest = on.consume(topic, second, consumer_options{}.sequential());
    const auto calls = second.wait(9, "the rest");
    for (std::size_t i = 0; i < 9; ++i) {
        EXPECT_EQ(calls[i].payload, numbered_body(i + 1)) << "in their old places";
        EXPECT_EQ(calls[i].attempt, 1U) << "an orderly stop costs nothing";
        EXPECT_EQ(calls[i].retries, 0U);
    }
    on.wait_empty(queue_of(topic));
}

void under_load(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms); });
    fill(on, topic, 400);
    std::vector<std::string> acked;
    while (acked.size() < 400) {
        const recorder<std::string> done;
        const probe handler([done](const seen& call, const delivery&) {
            if (call.attempt == 1 && call.payload.ends_with("7")) return retry;
            done.add(call.payload);
            return ack;
        });
        auto consuming = on.consume(topic, handler, consumer_options{.consumers = 2});
        handler.wait(1, "messages");
        ASSERT_TRUE(consuming.stop().clean());
        for (auto& body : done.all())
            acked.push_back(std::move(body));
        on.expect_counted("nothing is held after an orderly stop",
                          [&] { return on.broker().depth(queue_of(topic)).in_flight == 0; });
    }
    std::ranges::sort(acked);
    EXPECT_EQ(std::ranges::adjacent_find(acked), acked.end()) << "an acknowledged message came again";
    EXPECT_EQ(acked.size(), 400U);
    on.wait_empty(queue_of(topic));
}

void deadline_with_stuck_handler(stage& on) {
    const auto topic = on.topic();
    const auto id = on.publisher().publish(topic, "SECRET-stuck").id();
    const gate hold;
    const counter told;
    const probe handler([=](const seen&, const delivery& info) {
        const std::stop_callback tell(info.stop_token(), [&] { told.add(); });
        hold.arrive();
        return ack;
    });
    auto consuming = on.consume(topic, handler, consumer_options{.handler_timeout = std::nullopt});
    const opens_at_exit opener(hold);
    hold.arrivals().wait(1, "the call");
    const auto from = std::chrono::steady_clock::now();
    const auto ended = consuming.stop(50ms);
    const auto took = std::chrono::steady_clock::now() - from;
    EXPECT_GE(took, 50ms);
    EXPECT_LT(took, 5s) << "the deadline was not honoured";
    EXPECT_TRUE(ended.timed_out);
    EXPECT_EQ(ended.exit_code(), 3);
    EXPECT_EQ(ended.left, 1U);
    ASSERT_EQ(ended.stuck.size(), 1U);
    EXPECT_EQ(ended.stuck[0].queue, queue_of(topic));
    EXPECT_EQ(ended.stuck[0].message_id, id);
    EXPECT_GE(ended.stuck[0].running, 50ms);
    EXPECT_LT(ended.stuck[0].running, 1min);
    told.wait(1, "the stop token at the deadline");
}

void not_lost_after_deadline(stage& on) {
    const auto topic = on.topic();
    fill(on, topic, 5);
    const gate hold;
    const auto handler = held_at(hold);
    auto consuming = on.consume(topic, handler, consumer_options{.prefetch = 5}.sequential());
    const opens_at_exit opener(hold);
    hold.arrivals().wait(1, "the call");
    EXPECT_EQ(consuming.stop(20ms).exit_code(), 3);
    hold.open();
    const probe second;
    auto rest = on.consume(topic, second);
    on.wait_empty(queue_of(topic));
    std::set<std::string> bodies;
    for (const auto& call : handler.all())
        bodies.insert(call.payload);
    for (const auto& call : second.all())
        bodies.insert(call.payload);
    EXPECT_EQ(bodies.size(), 5U);
}

void zero_deadline(stage& on) {
    const auto topic = on.topic();
    fill(on, topic, 1);
    const gate hold;
    const auto handler = held_at(hold);
    auto consuming = on.consume(topic, handler);
    const opens_at_exit opener(hold);
    hold.arrivals().wait(1, "the call");
    EXPECT_EQ(consuming.stop(0ms).exit_code(), 3);
}

void publishes_of_handlers_confirmed(stage& on) {
    const auto topic = on.topic();
    const auto other = on.topic();
    fill(on, topic, 4);
    const gate hold;
    const counter confirmed;
    const auto publisher = on.publisher();
    const probe handler([=](const seen& call, const delivery&) {
        hold.arrive();
        if (publisher.try_publish(other, "from " + call.payload)) confirmed.add();
        return ack;
    });
    auto consuming = on.consume(topic, handler, consumer_options{.prefetch = 4});
    const opens_at_exit opener(hold);
    hold.arrivals().wait(4, "calls");
    auto stopping = stop_aside(consuming);
    EXPECT_EQ(stopping.wait_for(20ms), std::future_status::timeout);
    hold.open();
    EXPECT_TRUE(stopping.get().clean());
    EXPECT_EQ(confirmed.value(), 4U);
    EXPECT_EQ(on.broker().depth(other.topology->queue).ready, 4U);
}

void retries_decided_in_drain_are_kept(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    fill(on, topic, 2);
    const gate hold;
    const probe handler([hold](const seen& call, const delivery&) {
        hold.arrive();
        if (call.payload != numbered_body(0)) return reject("kept");
        return call.attempt == 1 ? retry("kept") : defer;  // should it come again before the drain
    });
    auto consuming = on.consume(topic, handler, consumer_options{.prefetch = 2});
    const opens_at_exit opener(hold);
    hold.arrivals().wait(2, "calls");
    auto stopping = stop_aside(consuming);
    hold.open();
    EXPECT_TRUE(stopping.get().clean());
    const auto again = on.take(topic, 1).front();
    EXPECT_EQ(again.attempt, 2U);
    EXPECT_EQ(again.last_error, "kept");
    EXPECT_EQ(on.take_dead(topic, 1).front().last_error, "kept");
}

void idle_group_stops_at_once(stage& on) {
    const auto topic = on.topic([](auto t) { return t.dlq(); });
    auto consuming = running(on.group().add(topic, probe()).add_dead(topic, probe()));
    const auto from = std::chrono::steady_clock::now();
    EXPECT_TRUE(consuming.stop().clean());
    EXPECT_LT(std::chrono::steady_clock::now() - from, 5s);
}

void stop_twice(stage& on) {
    const auto topic = on.topic();
    auto group = on.group();
    group.add(topic, probe());
    group.start();
    EXPECT_TRUE(group.stop(patience()).clean());
    EXPECT_TRUE(group.stop(patience()).clean());
}

}  // namespace

void add_drain_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"drain", "finishes_running", &finishes_running},
                            {"drain", "releases_unstarted", &releases_unstarted},
                            {"drain", "under_load", &under_load},
                            {"drain", "deadline_with_stuck_handler", &deadline_with_stuck_handler},
                            {"drain", "not_lost_after_deadline", &not_lost_after_deadline},
                            {"drain", "zero_deadline", &zero_deadline},
                            {"drain", "publishes_of_handlers_confirmed", &publishes_of_handlers_confirmed},
                            {"drain", "retries_decided_in_drain_are_kept", &retries_decided_in_drain_are_kept},
                            {"drain", "idle_group_stops_at_once", &idle_group_stops_at_once},
                            {"drain", "stop_twice", &stop_twice},
                        });
}

}  // namespace shove::testkit
