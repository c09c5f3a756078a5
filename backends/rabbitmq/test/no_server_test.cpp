#include <shove/rabbitmq.hpp>
#include <shove/shove.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

/// Where nothing listens, callers hear that, and that nothing was sent.
namespace shove::rabbitmq_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

rabbitmq::config nowhere() {
    return rabbitmq::parse("amqp://guest:guest@127.0.0.1:1").value();  // port 1: tcpmux, of no machine in use
}

TEST(no_server_test, a_publish_with_little_patience_was_not_sent) {
    const broker<rabbitmq> off{nowhere()};
    const auto topic = runtime_topic::make(shove::topology("orders")).value();
    publish_options how;
    how.timeout = 500ms;
    const auto sent = off.publisher().try_publish(topic, "body", how);
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error(), errc::not_connected) << sent.error().message();
    EXPECT_THAT(sent.error().message(), HasSubstr("127.0.0.1:1"));
}

TEST(no_server_test, a_ping_says_what_is_wrong) {
    const broker<rabbitmq> off{nowhere()};
    const auto answer = off.ping(500ms);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error(), errc::not_connected) << answer.error().message();
}

}  // namespace
}  // namespace shove::rabbitmq_test
