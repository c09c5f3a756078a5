#include "rabbitmq_server.hpp"
#include "plain_client.hpp"

#include <shove/testkit/tcp_proxy.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

/// What the tests' own tools promise about the server that all share.
namespace shove::rabbitmq_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::UnorderedElementsAre;

TEST(rabbitmq_address, is_taken_apart_and_put_together) {
    const address at("amqps://me:secret@10.0.0.1:5671");
    EXPECT_EQ(at.scheme, "amqps");
    EXPECT_EQ(at.credentials, "me:secret");
    EXPECT_EQ(at.host, "10.0.0.1");
    EXPECT_EQ(at.port, 5671);
    EXPECT_EQ(at.url("/", 7), "amqps://me:secret@10.0.0.1:7/%2F");
    EXPECT_THROW(address("nonsense"), std::invalid_argument);
}

TEST(rabbitmq_server, a_vhost_is_made_and_goes_with_all_in_it) {
    const rabbitmq_server server;
    std::string name;
    {
        const vhost mine(server);
        name = mine.name();
        EXPECT_THAT(server.expect("GET", "/api/vhosts"), HasSubstr(name));
        EXPECT_TRUE(plain_client(server.port(), name).logged_in());
        mine.declare_queue("orders");
        mine.publish("orders", "one");
        mine.publish("orders", "two");
        EXPECT_THAT(mine.take_all("orders"), ElementsAre("one", "two"));
        EXPECT_THROW(mine.publish("nowhere", "lost"), testkit::broker_error);
    }
    EXPECT_THAT(server.expect("GET", "/api/vhosts"), Not(HasSubstr(name)));
    EXPECT_FALSE(plain_client(server.port(), name).logged_in());
    EXPECT_THROW(server.expect("GET", "/api/vhosts/" + name), testkit::broker_error);
}

TEST(rabbitmq_server, lists_connections_and_closes_them) {
    const rabbitmq_server server;
    const vhost mine(server);
    const vhost other(server);
    EXPECT_THAT(mine.connections(), IsEmpty());
    plain_client one(server.port(), mine.name());
    plain_client two(server.port(), mine.name());
    const plain_client three(server.port(), other.name());
    EXPECT_THAT(mine.connections(), UnorderedElementsAre(one.name(), two.name()));
    server.close_connection(one.name());
    EXPECT_TRUE(one.receives(AMQP_CONNECTION_CLOSE_METHOD));
    mine.close_connections();
    EXPECT_TRUE(two.receives(AMQP_CONNECTION_CLOSE_METHOD));
    EXPECT_THAT(other.connections(), SizeIs(1));
}

TEST(rabbitmq_server, counts_what_is_in_a_queue) {
    const rabbitmq_server server;
    const vhost mine(server);
    mine.declare_queue("orders");
    EXPECT_EQ(mine.counts("orders"), (queue_counts{0, 0, 0}));
    mine.publish("orders", "one");
    mine.publish("orders", "two");
    EXPECT_EQ(mine.counts("orders"), (queue_counts{2, 0, 0}));
    plain_client consumer(server.port(), mine.name());
    consumer.consume("orders");
    EXPECT_TRUE(consumer.receives(AMQP_BASIC_DELIVER_METHOD));
    EXPECT_TRUE(consumer.receives(AMQP_BASIC_DELIVER_METHOD));
    EXPECT_EQ(mine.counts("orders"), (queue_counts{0, 2, 1}));
}

TEST(rabbitmq_server, speaks_tls) {
    const rabbitmq_server server;
    const vhost mine(server);
    EXPECT_TRUE(plain_client(server.tls_port(), mine.name(), testkit::broker_setting("CA")).logged_in());
    EXPECT_FALSE(plain_client(server.tls_port(), mine.name(), testkit::broker_setting("OTHER_CA")).logged_in());
}

TEST(rabbitmq_server, is_reached_through_a_proxy) {
    const rabbitmq_server server;
    const vhost mine(server);
    testkit::tcp_proxy proxy(server.port());
    EXPECT_EQ(mine.url(proxy.port()),
              "amqp://guest:guest@127.0.0.1:" + std::to_string(proxy.port()) + "/" + mine.name());
    plain_client through(proxy.port(), mine.name());
    EXPECT_TRUE(through.logged_in());
    proxy.reset_all();
    EXPECT_TRUE(through.has_ended());
}

}  // namespace
}  // namespace shove::rabbitmq_test
