#include "plain_client.hpp"
#include "rabbitmq_server.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

/// What the tests' own tools promise about the server that a test may break.
namespace shove::rabbitmq_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

TEST(rabbitmq_faults, a_kill_keeps_durable_messages) {
    const rabbitmq_faults server;
    const vhost mine(server);
    mine.declare_queue("orders");
    mine.publish("orders", "kept");
    plain_client connected(server.port(), mine.name());
    ASSERT_TRUE(connected.logged_in());
    server.kill();
    EXPECT_TRUE(connected.has_ended());
    EXPECT_FALSE(plain_client(server.port(), mine.name()).logged_in());
    server.up();
    EXPECT_TRUE(plain_client(server.port(), mine.name()).logged_in());
    EXPECT_THAT(mine.take_all("orders"), ElementsAre("kept"));
}

TEST(rabbitmq_faults, a_memory_alarm_blocks_publishers) {
    const rabbitmq_faults server;
    const vhost mine(server);
    plain_client publisher(server.port(), mine.name());
    server.set_memory_alarm();
    amqp_channel_open(publisher.state(), 1);
    amqp_basic_publish(publisher.state(), 1, amqp_empty_bytes, amqp_cstring_bytes("nowhere"), 0, 0, nullptr,
                       amqp_cstring_bytes("text"));
    EXPECT_TRUE(publisher.receives(AMQP_CONNECTION_BLOCKED_METHOD));
    server.clear_memory_alarm();
    EXPECT_TRUE(publisher.receives(AMQP_CONNECTION_UNBLOCKED_METHOD));
}

TEST(rabbitmq_faults, a_stopped_app_closes_connections_and_refuses_new_ones) {
    const rabbitmq_faults server;
    const vhost mine(server);
    plain_client connected(server.port(), mine.name());
    ASSERT_TRUE(connected.logged_in());
    server.stop_app();
    EXPECT_TRUE(connected.has_ended());
    EXPECT_FALSE(plain_client(server.port(), mine.name()).logged_in());
    server.start_app();
    EXPECT_TRUE(plain_client(server.port(), mine.name()).logged_in());
}

TEST(rabbitmq_faults, a_paused_server_keeps_connections_and_says_nothing) {
    const rabbitmq_faults server;
    const vhost mine(server);
    plain_client connected(server.port(), mine.name());
    ASSERT_TRUE(connected.logged_in());
    server.pause();
    amqp_frame_t frame{};
    EXPECT_EQ(connected.next_frame(frame, 200ms), AMQP_STATUS_TIMEOUT);
    server.resume();
    EXPECT_NE(amqp_channel_open(connected.state(), 1), nullptr);
}

TEST(rabbitmq_faults, a_consumer_that_does_not_acknowledge_is_cut_off) {
    const rabbitmq_faults server;
    server.consumer_timeout(500ms);
    const vhost mine(server);
    mine.declare_queue("orders");
    mine.publish("orders", "held");
    plain_client consumer(server.port(), mine.name());
    consumer.consume("orders");
    EXPECT_TRUE(consumer.receives(AMQP_CHANNEL_CLOSE_METHOD));
}

TEST(rabbitmq_faults, comes_to_order_whatever_was_done_to_it) {
    {
        const rabbitmq_faults server;
        server.set_memory_alarm();
        server.pause();
    }
    {
        const rabbitmq_faults server;
        EXPECT_EQ(server.eval("rabbit_alarm:get_alarms()"), "[]");
        server.kill();
    }
    const rabbitmq_faults server;
    const vhost mine(server);
    EXPECT_TRUE(plain_client(server.port(), mine.name()).logged_in());
}

}  // namespace
}  // namespace shove::rabbitmq_test
