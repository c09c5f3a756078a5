#include "plain_client.hpp"
#include "site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <ctime>
#include <map>
#include <optional>
#include <string>

/// A network and an operator that do harm; the server itself stays whole.
namespace shove::rabbitmq_test {
namespace {

using namespace std::chrono_literals;
using testing::_;
using testing::Each;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;

/// Harm is done while messages flow: they go on flowing, and none that was confirmed is lost.
template <class Harm>
void expect_to_go_on(site& on, const Harm& harm) {
    traffic flow(on);
    flow.goes_on();
    harm();
    flow.goes_on();
    harm();
    flow.goes_on();
    EXPECT_THAT(flow.lost(), IsEmpty());
}

TEST(rabbitmq_reconnect, after_resets) {
    const rabbitmq_server server;
    site here(server);
    expect_to_go_on(here, [&] { here.network().reset_all(); });
}

TEST(rabbitmq_reconnect, after_closes_in_order) {
    const rabbitmq_server server;
    site here(server);
    expect_to_go_on(here, [&] { here.network().close_all(); });
}

TEST(rabbitmq_reconnect, after_an_operator_closed_all_connections) {
    const rabbitmq_server server;
    site here(server);
    expect_to_go_on(here, [&] { here.host().close_connections(); });
}

TEST(rabbitmq_reconnect, after_a_time_without_a_server) {
    const rabbitmq_server server;
    site here(server);
    expect_to_go_on(here, [&] {
        here.network().refuse();
        here.network().reset_all();
        testkit::until(std::chrono::steady_clock::now() + 300ms);  // real time: some attempts fail
        here.network().admit();
    });
}

/// The network swallows all: missed heartbeats tell, and connections are made anew once it is well.
TEST(rabbitmq_reconnect, after_a_network_that_swallowed) {
    const rabbitmq_server server;
    site here(server, "?heartbeat=1&connect_timeout=1s");
    traffic flow(here);
    flow.goes_on();
    const auto accepted = here.network().accepted();
    here.network().stall();
    testkit::eventually("a new connection", [&] { return here.network().accepted() > accepted; });
    here.network().release();
    flow.goes_on();
    EXPECT_THAT(flow.lost(), IsEmpty());
}

/// Connections that break in the middle of a frame.
TEST(rabbitmq_reconnect, after_breaks_at_any_byte) {
    const rabbitmq_server server;
    site here(server);
    traffic flow(here);
    for (const std::size_t bytes : std::array<std::size_t, 4>{1, 77, 301, 1003}) {
        const auto accepted = here.network().accepted();
        here.network().close_after(bytes, testkit::flow::to_target);
        testkit::eventually("a connection to break", [&] { return here.network().accepted() > accepted; });
        here.network().close_after(bytes, testkit::flow::to_client);
        testkit::eventually("a connection to break", [&] { return here.network().accepted() > accepted + 1; });
    }
    flow.goes_on();
    EXPECT_THAT(flow.lost(), IsEmpty());
}

/// The counts of a classic queue are those of the moment; a quorum queue's are seconds behind.
constexpr auto classic = "?heartbeat=1&queues=classic";

/// Messages that are in hand while their connection goes, with and without transactions.
class rabbitmq_reconnect_in_hand : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(settling, rabbitmq_reconnect_in_hand,
                         testing::Values(classic, "?heartbeat=1&queues=classic&transactional=true"),
                         [](const auto& which) { return which.index == 0 ? "copies_first" : "transactional"; });

/// The connection is cut under a handler, and its message comes back while it still runs: no second call.
TEST_P(rabbitmq_reconnect_in_hand, a_running_call_decides_about_a_message_that_came_back) {
    const rabbitmq_server server;
    site here(server, GetParam());
    const slow_handler handler;
    auto group = here.consume(handler);
    const testkit::opens_at_exit open(handler.go);
    here.publish("one");
    handler.go.arrivals().wait(1, "the call");
    const auto accepted = here.network().accepted();
    here.network().reset_all();
    testkit::eventually("a new connection", [&] { return here.network().accepted() > accepted; });
    here.wait_for({.ready = 0, .unacknowledged = 1, .consumers = 1});
    handler.go.open();
    here.wait_for({.ready = 0, .unacknowledged = 0, .consumers = 1});
    EXPECT_TRUE(group.stop(10s).clean());
    EXPECT_EQ(handler.go.arrivals().value(), 1U);
}

/// The same, and the call ends while there is no connection.
TEST_P(rabbitmq_reconnect_in_hand, a_call_that_ended_without_a_connection_is_not_repeated) {
    const rabbitmq_server server;
    site here(server, GetParam());
    const slow_handler handler;
    auto group = here.consume(handler);
    const testkit::opens_at_exit open(handler.go);
    here.publish("one");
    handler.go.arrivals().wait(1, "the call");
    here.network().refuse();
    here.network().reset_all();
    handler.go.open();
    handler.ended.wait(1, "the end of the call");
    testkit::eventually("its answer", [&] { return group.stats(site::queue()).acked == 1; });
    here.network().admit();
    here.wait_for({.ready = 0, .unacknowledged = 0, .consumers = 1});
    EXPECT_TRUE(group.stop(10s).clean());
    EXPECT_EQ(handler.go.arrivals().value(), 1U);
}

/// A rejection while there is no connection: one dead letter.
TEST_P(rabbitmq_reconnect_in_hand, a_rejection_without_a_connection_makes_one_dead_letter) {
    const rabbitmq_server server;
    site here(server, GetParam());
    slow_handler handler;
    handler.first = reject("as asked");
    auto group = here.consume(handler);
    const testkit::opens_at_exit open(handler.go);
    here.publish("one");
    handler.go.arrivals().wait(1, "the call");
    here.network().refuse();
    here.network().reset_all();
    handler.go.open();
    handler.ended.wait(1, "the end of the call");
    here.network().admit();
    here.wait_for({.ready = 1, .unacknowledged = 0, .consumers = 0}, "orders-dlq");
    here.wait_for({.ready = 0, .unacknowledged = 0, .consumers = 1});
    (void)group.stop(10s);
    EXPECT_EQ(handler.go.arrivals().value(), 1U);
    EXPECT_EQ(here.host().counts("orders-dlq").ready, 1U);
}

/// Somebody deletes the queue under its consumers: it is made again, and consuming goes on.
TEST(rabbitmq_reconnect, a_queue_deleted_under_a_consumer_is_made_again) {
    const rabbitmq_server server;
    site here(server);
    traffic flow(here);
    flow.goes_on();
    here.remove("queues", site::queue());
    flow.goes_on();
}

/// Somebody deletes the queue under its publishers: an error that says so, until it is declared again.
TEST(rabbitmq_reconnect, a_queue_deleted_under_a_publisher_is_an_error) {
    const rabbitmq_server server;
    site here(server, classic);
    here.publish("one");
    here.remove("queues", site::queue());
    const auto publisher = here.broker().publisher();
    EXPECT_EQ(publisher.try_publish(here.topic(), "body").error(), errc::unroutable);
    const std::array<shove::publisher<rabbitmq>::raw_outgoing, 3> batch{};
    const auto report = publisher.publish_batch(here.topic(), batch);
    EXPECT_EQ(report.count(publish_status::ok), 0U);
    EXPECT_EQ(report.first_error(), errc::unroutable);
    here.broker().declare(here.topic());
    here.publish("two");
    here.wait_for({.ready = 1});
}

/// The same of its exchange.
TEST(rabbitmq_reconnect, an_exchange_deleted_under_a_publisher_is_an_error) {
    const rabbitmq_server server;
    site here(server);
    here.publish("one");
    here.remove("exchanges", "orders-readers");
    const auto publisher = here.broker().publisher();
    publish_options how;
    how.timeout = 3s;
    const auto first = publisher.try_publish(here.topic(), "body", how);
    EXPECT_FALSE(first.has_value());
    testkit::eventually("publishing without the exchange, or an error that says what to do", [&] {
        const auto again = publisher.try_publish(here.topic(), "body", how);
        return again.has_value() || again.error() == errc::unknown_queue || again.error() == errc::unroutable;
    });
    here.broker().declare(here.topic());
    here.publish("two");
}

/// CPU time that this process has used.
std::chrono::nanoseconds cpu_time() {
    timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

void expect_no_cost_without_a_server(const site::shape& of) {
    const rabbitmq_server server;
    site here(server, "", of);
    const testkit::counter handled;
    auto group = here.consume([handled](std::span<const std::byte>, const delivery&) {
        handled.add();
        return ack;
    });
    here.publish("one", "key");
    handled.wait(1, "the connections to be in use");
    here.network().refuse();
    here.network().reset_all();
    constexpr std::chrono::milliseconds span = 5s;
    const auto before = cpu_time();
    testkit::until(std::chrono::steady_clock::now() + span);  // real time: its cost is what this is about
    const auto used = cpu_time() - before;
    EXPECT_LT(used, span / 100) << std::chrono::duration_cast<milliseconds>(used).count() << " ms of CPU";
    here.network().admit();
    here.publish("two", "key");
    handled.wait(2, "consuming to go on");
}

TEST(rabbitmq_reconnect, an_idle_process_whose_server_is_dead_costs_nothing) {
    expect_no_cost_without_a_server({});
}
TEST(rabbitmq_reconnect, idle_shards_whose_server_is_dead_cost_nothing) {
    expect_no_cost_without_a_server(
        [](const shove::topology& t) { return t.hold(5ms).dlq().sequenced(sequence_failure::skip).routing_shards(2); });
}

/// The body of the next message; nothing: there is none.
std::optional<std::string> next_text(plain_client& from) {
    constexpr timeval limit{1, 0};
    amqp_envelope_t got{};
    if (amqp_consume_message(from.state(), &got, &limit, 0).reply_type != AMQP_RESPONSE_NORMAL) return std::nullopt;
    std::string text(static_cast<const char*>(got.message.body.bytes), got.message.body.len);
    amqp_destroy_envelope(&got);
    return text;
}

/// Puts a shard to the end of the ring.
void bind_anew(const rabbitmq_server& server, const vhost& host, const std::string& shard) {
    const auto path = "/api/bindings/" + percent_encoded(host.name()) + "/e/orders-seq-hash/q/" + shard;
    server.expect("DELETE", path + "/1");
    server.expect("POST", path, R"({"routing_key":"1"})");
}

/// A node that starts anew knows the bindings of an `x-consistent-hash` exchange, but not in which order they were
/// made, and that decides which key goes where. A key whose shard is another one than before is handled twice at a
/// time.
TEST(rabbitmq_reconnect, keys_keep_their_shards_when_a_node_has_put_its_ring_together_anew) {
    constexpr int keys = 20;
    constexpr int shards = 3;
    const rabbitmq_server server;
    site here(server, "", [](const shove::topology& t) {
        return t.hold(5ms).dlq().sequenced(sequence_failure::skip).routing_shards(shards);
    });
    const auto publish_all = [&] {
        publish_options how;
        for (int n = 0; n < keys; ++n) {
            how.key = "key " + std::to_string(n);
            here.broker().publisher().publish(here.topic(), *how.key, how);
        }
    };
    publish_all();
    bind_anew(server, here.host(), "orders-seq-0");
    publish_all();
    for (int shard = 0; shard < shards; ++shard) {
        std::map<std::string, int> counts;
        plain_client reader(server.port(), here.host().name());
        reader.consume(("orders-seq-" + std::to_string(shard)).c_str());
        for (auto text = next_text(reader); text; text = next_text(reader))
            ++counts[*text];
        EXPECT_THAT(counts, Each(Pair(_, 2))) << "shard " << shard;
        EXPECT_THAT(counts, Not(IsEmpty()));
    }
}

/// The server's answers are swallowed: what was sent may be stored or not, and is told so.
TEST(rabbitmq_reconnect, a_publish_without_an_answer_has_an_unknown_fate) {
    const rabbitmq_server server;
    site here(server);
    here.publish("one");
    here.network().stall(testkit::flow::to_client);
    const auto publisher = here.broker().publisher();
    shove::publisher<rabbitmq>::raw_outgoing two;
    two.body = "body";
    two.options.id = "two";
    two.options.timeout = 500ms;
    const std::array batch{two};
    const auto report = publisher.publish_batch(here.topic(), batch);
    EXPECT_EQ(report.count(publish_status::unknown), 1U) << report.first_error().message();
    here.network().release();
    here.publish("three");
}

}  // namespace
}  // namespace shove::rabbitmq_test
