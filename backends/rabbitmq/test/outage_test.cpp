#include "site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>

/// The server itself stops, chokes or loses its patience.
namespace shove::rabbitmq_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::IsEmpty;

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
    const testkit::counter calls;
    auto group = here.consume([calls](std::span<const std::byte>, const delivery&) {
        calls.add();
        testkit::until(std::chrono::steady_clock::now() + 4s);  // real time: the server's is what this is about
        return ack;
    });
    here.publish("long");
    here.publish("other");
    testkit::eventually("both to be done", [&] { return group.stats(site::queue()).acked >= 2; });
    here.wait_for({.ready = 0, .unacknowledged = 0, .consumers = 1});
    EXPECT_TRUE(group.stop(10s).clean());
    EXPECT_LE(calls.value(), 3U);
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

}  // namespace
}  // namespace shove::rabbitmq_test
