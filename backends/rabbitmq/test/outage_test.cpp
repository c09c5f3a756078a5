#include "site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <string>

/// The server itself stops, chokes or loses its patience.
namespace shove::rabbitmq_test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using testing::UnorderedElementsAre;

/// A stop in order and a start: nothing confirmed is lost. (A kill is in ledger_test.cpp.)
TEST(rabbitmq_outage, traffic_goes_on_after_a_stop) {
    const rabbitmq_faults server;
    site here(server);
    traffic flow(here);
    flow.goes_on();
    server.stop_app();
    server.start_app();
    flow.goes_on();
    EXPECT_THAT(flow.lost(), IsEmpty());
}

/// All that was in hand comes back at once, to whoever is there first: it is not handled one by one.
TEST(rabbitmq_outage, nothing_that_was_in_hand_is_suspected_after_a_restart) {
    constexpr std::size_t many = 200;
    const rabbitmq_faults server;
    site here(server);
    const slow_handler slow;
    consumer_options how;
    how.prefetch = many / 2;
    const testkit::recorder<std::uint32_t> crashes;
    const auto handler = [slow, crashes](std::span<const std::byte> body, const delivery& info) {
        crashes.add(info.crashes());
        return slow(body, info);
    };
    auto group = here.consume(handler, how);
    auto second = here.direct();
    auto other = second.consumer_group();
    other.add(here.topic(), handler, how);
    other.start();
    const testkit::opens_at_exit open(slow.go);
    for (std::size_t n = 0; n < many; ++n)
        here.publish("m" + std::to_string(n));
    testkit::eventually("all to be in hand", [&] {
        return here.broker().depth(here.topic()).in_flight + second.depth(here.topic()).in_flight == many;
    });
    server.stop_app();
    server.start_app();
    slow.go.open();
    testkit::eventually("all to be handled", [&] {
        const auto left = here.host().counts(site::queue());
        return left.consumers == 2 && left.ready + left.unacknowledged == 0;
    });
    EXPECT_THAT(crashes.all(), Each(0U));
    EXPECT_TRUE(group.stop(10s).clean());
    EXPECT_TRUE(other.stop(10s).clean());
}

/// A memory alarm: publishers are told why at their deadline, consumers go on, and all is well after it.
TEST(rabbitmq_outage, a_blocked_publisher_is_told_why_and_consumers_go_on) {
    const rabbitmq_faults server;
    site here(server);
    for (int n = 0; n < 5; ++n)
        here.publish("m" + std::to_string(n));
    server.set_memory_alarm();
    const auto publisher = here.broker().publisher();
    publish_options how;
    how.timeout = 500ms;
    // The first one is sent: the server says that it blocks when it is given something.
    (void)publisher.try_publish(here.topic(), "body", how);
    const auto begin = std::chrono::steady_clock::now();
    const auto refused = publisher.try_publish(here.topic(), "body", how);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 2s);
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message(), HasSubstr("connection.blocked"));
    EXPECT_TRUE(is_retryable(refused.error().code));
    const testkit::counter handled;
    auto group = here.consume([handled](std::span<const std::byte>, const delivery&) {
        handled.add();
        return ack;
    });
    handled.wait(5, "calls while publishers are blocked");
    server.clear_memory_alarm();
    here.publish("after");
    handled.wait(6, "the message after the alarm");
    EXPECT_TRUE(group.stop(10s).clean());
}

/// The same where dead letters go out in transactions: they wait with the consumer's connection, once each, and so does
/// a consumer that would join it.
TEST(rabbitmq_outage, blocked_transactions_wait) {
    const rabbitmq_faults server;
    site here(server, "?heartbeat=1&queues=classic&transactional=true");
    for (int n = 0; n < 20; ++n)
        here.publish("m" + std::to_string(n));
    server.set_memory_alarm();
    const testkit::counter calls;
    const auto refuse_all = [calls](std::span<const std::byte>, const delivery&) {
        calls.add();
        return reject("as asked");
    };
    consumer_options how;
    how.prefetch = 5;
    auto group = here.consume(refuse_all, how);
    calls.wait(5, "calls while the server is short of memory");
    auto second = std::async(std::launch::async, [&] { return here.consume(refuse_all, how); });
    testkit::until(std::chrono::steady_clock::now() + 11s);  // real time: longer than an answer may take
    EXPECT_EQ(calls.value(), 5U);
    EXPECT_EQ(here.host().counts("orders-dlq").ready, 0U);
    server.clear_memory_alarm();
    auto other = second.get();
    here.wait_for({.ready = 20}, "orders-dlq");
    here.wait_for({.ready = 0, .unacknowledged = 0, .consumers = 2});
    EXPECT_TRUE(group.stop(10s).clean());
    EXPECT_TRUE(other.stop(10s).clean());
    EXPECT_EQ(calls.value(), 20U);
    EXPECT_EQ(here.host().counts("orders-dlq").ready, 20U);
}

/// A call that takes longer than the server waits for its acknowledgement. The server ends its channel and gives the
/// message out again: to this process, which knows that the call still runs.
TEST(rabbitmq_outage, a_call_beyond_the_patience_of_the_server_is_not_repeated_for_ever) {
    const rabbitmq_faults server;
    server.consumer_timeout(500ms);
    site here(server, "");
    const testkit::recorder<std::string> calls;
    auto group = here.consume([calls](std::span<const std::byte>, const delivery& info) {
        calls.add(std::string(info.id()));
        testkit::until(std::chrono::steady_clock::now() + 4s);  // real time: the server's is what this is about
        return ack;
    });
    here.publish("long");
    here.publish("other");
    testkit::eventually("both to be done", [&] { return group.stats(site::queue()).acked >= 2; });
    here.wait_for({.ready = 0, .unacknowledged = 0, .consumers = 1});
    EXPECT_TRUE(group.stop(10s).clean());
    EXPECT_LE(calls.size(), 3U);
    for (const auto* id : {"long", "other"})
        EXPECT_LE(std::ranges::count(calls.all(), id), 2) << id;
}

/// The same of a sequenced topic.
TEST(rabbitmq_outage, a_call_beyond_the_patience_of_the_server_of_a_shard) {
    const rabbitmq_faults server;
    server.consumer_timeout(500ms);
    site here(server, "", [](const shove::topology& t) {
        return t.hold(5ms).dlq().sequenced(sequence_failure::skip).routing_shards(1);
    });
    const testkit::counter calls;
    auto group = here.consume([calls](std::span<const std::byte>, const delivery&) {
        calls.add();
        testkit::until(std::chrono::steady_clock::now() + 4s);  // real time: the server's is what this is about
        return ack;
    });
    here.publish("long", "k");
    testkit::eventually("it to be done", [&] {
        const auto depth = here.broker().depth(here.topic());
        return calls.value() > 0 && depth.ready + depth.in_flight + depth.delayed == 0;
    });
    (void)group.stop(10s);
    EXPECT_LE(calls.value(), 2U);
}

// The same where the client knows the server's patience. It gives its channel back in time.

/// A broker that knows the server's patience and keeps what it says.
struct patient {
    explicit patient(const site& on)
        : topic(on.topic()), broker(open(on.host().url() + "?consumer_timeout=2s", said)) {}

    static rabbit_broker open(const std::string& url, const testkit::recorder<std::string>& said) {
        broker_options how;
        how.log = [](log_level, std::string_view) {};
        how.depth_samples = 0ms;
        how.on_event = [said](const event& what) {
            if (what.info.level >= log_level::warning)
                said.add(std::string(what.info.name) + ": " + std::string(what.text));
        };
        return rabbit_broker(rabbitmq::parse(url).value(), how);
    }
    rabbit_group consume(detail::raw_function handler, consumer_options how = {}) {
        auto group = broker.consumer_group();
        group.add(topic, std::move(handler), std::move(how));
        group.start();
        return group;
    }

    const testkit::recorder<std::string> said;
    runtime_topic topic;
    rabbit_broker broker;
};

const auto one_shard = [](const shove::topology& t) {
    return t.hold(3s).dlq().sequenced(sequence_failure::skip).routing_shards(1);
};

constexpr auto in_time = "receive_failed: receiving from";

TEST(rabbitmq_outage, a_long_call_gives_its_channel_back_in_time) {
    const rabbitmq_faults server;
    server.consumer_timeout(2s);
    const site here(server, "");
    patient mine(here);
    const testkit::counter calls;
    auto group = mine.consume([calls](std::span<const std::byte>, const delivery& info) {
        calls.add();
        if (info.id() == "long") testkit::until(std::chrono::steady_clock::now() + 3s);  // real time: as above
        return ack;
    });
    publish_options how;
    for (const auto* id : {"short", "long", "other"}) {
        how.id = id;
        mine.broker.publisher().publish(mine.topic, "body", how);
    }
    testkit::eventually("all to be done", [&] {
        return group.stats(site::queue()).acked >= 3 && here.host().counts(site::queue()).unacknowledged == 0;
    });
    EXPECT_TRUE(group.stop(10s).clean());
    EXPECT_EQ(here.host().counts(site::queue()), (queue_counts{.ready = 0, .unacknowledged = 0, .consumers = 0}));
    EXPECT_EQ(calls.value(), 3U);
    EXPECT_THAT(mine.said.all(), ElementsAre(AllOf(StartsWith(in_time), HasSubstr("consumer_timeout of 2 s"))));
}

/// A shard stays with its owner: its calls go on, and are not told to stop.
TEST(rabbitmq_outage, a_long_call_of_a_shard_gives_its_channel_back_in_time) {
    const rabbitmq_faults server;
    server.consumer_timeout(2s);
    const site here(server, "", one_shard);
    patient mine(here);
    const testkit::recorder<std::string> calls;
    const testkit::counter told_to_stop;
    auto group = mine.consume([calls, told_to_stop](std::span<const std::byte>, const delivery& info) {
        calls.add(std::string(info.id()));
        if (info.id() == "long") testkit::until(std::chrono::steady_clock::now() + 3s);  // real time: as above
        if (info.stop_token().stop_requested()) told_to_stop.add();
        return ack;
    });
    publish_options how;
    for (const auto* id : {"long", "behind", "last"}) {
        how.id = id;
        how.key = "k";
        mine.broker.publisher().publish(mine.topic, "body", how);
    }
    testkit::eventually("all to be done", [&] {
        return group.stats(site::queue()).acked >= 3 && here.host().counts("orders-seq-0").unacknowledged == 0;
    });
    EXPECT_TRUE(group.stop(10s).clean());
    EXPECT_EQ(here.host().counts("orders-seq-0").ready, 0U);
    EXPECT_THAT(calls.all(), ElementsAre("long", "behind", "last"));
    EXPECT_EQ(told_to_stop.value(), 0U);
    EXPECT_THAT(mine.said.all(), ElementsAre(AllOf(StartsWith(in_time), HasSubstr("consumer_timeout of 2 s"))));
}

/// Retries each message once, after three seconds; notes id and attempt of each call.
detail::raw_function retrying(const testkit::recorder<std::string>& calls) {
    return [calls](std::span<const std::byte>, const delivery& info) -> outcome {
        calls.add(std::string(info.id()) + " " + std::to_string(info.attempt()));
        return info.attempt() == 1 && info.id() == "waits" ? outcome(retry) : outcome(ack);
    };
}

void publish_waiting(patient& by) {
    publish_options how;
    for (const auto& [id, key] : {std::pair("waits", "a"), std::pair("behind", "a"), std::pair("other", "b")}) {
        how.id = id;
        how.key = key;
        by.broker.publisher().publish(by.topic, "body", how);
    }
}

TEST(rabbitmq_outage, a_wait_beyond_the_patience_of_the_server_keeps_count_and_order) {
    const rabbitmq_faults server;
    server.consumer_timeout(2s);
    const site here(server, "", one_shard);
    patient mine(here);
    const testkit::recorder<std::string> calls;
    auto group = mine.consume(retrying(calls));
    publish_waiting(mine);
    const auto made = calls.wait(4, "the calls");
    EXPECT_THAT(std::span(made).first(2), UnorderedElementsAre("waits 1", "other 1"));
    EXPECT_THAT(std::span(made).subspan(2), ElementsAre("waits 2", "behind 1"));
    EXPECT_TRUE(group.stop(10s).clean());
    EXPECT_EQ(here.host().counts("orders-seq-0").ready, 0U);
    EXPECT_THAT(mine.said.all(), ElementsAre(StartsWith(in_time)));
}

/// Somebody stands by: what is given back goes there, with count and order.
TEST(rabbitmq_outage, a_wait_goes_on_at_who_stands_by) {
    const rabbitmq_faults server;
    server.consumer_timeout(2s);
    const site here(server, "", one_shard);
    patient first(here);
    patient second(here);
    const testkit::recorder<std::string> calls;
    auto group = first.consume(retrying(calls));
    publish_waiting(first);
    calls.wait(2, "the first calls");
    const testkit::recorder<std::string> later;
    auto standby = second.consume(retrying(later));
    EXPECT_THAT(later.wait(2, "the calls of who stands by"), ElementsAre("waits 2", "behind 1"));
    EXPECT_TRUE(group.stop(10s).clean());
    EXPECT_TRUE(standby.stop(10s).clean());
    EXPECT_THAT(calls.all(), UnorderedElementsAre("waits 1", "other 1"));
    EXPECT_EQ(here.host().counts("orders-seq-0").ready, 0U);
}

}  // namespace
}  // namespace shove::rabbitmq_test
