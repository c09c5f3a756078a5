#include "site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

/// What the server asks of a client before it serves it.
namespace shove::rabbitmq_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr auto password = "opensesame";

/// What a broker reports that cannot log in. It must do so at once.
error refusal_of(const std::string& url) {
    const auto begin = std::chrono::steady_clock::now();
    const auto broker = open_quietly(url);
    error why;
    try {
        broker.declare(runtime_topic::make(shove::topology("orders")).value());
    } catch (const exception& thrown) {
        why = thrown.cause();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    EXPECT_TRUE(why) << "it was let in";
    EXPECT_FALSE(is_retryable(why.code)) << why.message();
    EXPECT_THAT(why.message(), Not(HasSubstr(password)));
    return why;
}

std::string with(const std::string& url, const std::string& user, const std::string& secret) {
    const auto at = url.find("://") + 3;
    return url.substr(0, at) + user + ":" + secret + url.substr(url.find('@'));
}

std::string option(std::string_view name, std::string_view setting) {
    return std::string(name) + "=" + testkit::broker_setting(setting);
}

TEST(rabbitmq_login, a_wrong_password_is_an_error_at_once) {
    const rabbitmq_server server;
    const vhost mine(server);
    EXPECT_THAT(refusal_of(with(mine.url(), "guest", password)).message(), HasSubstr("ACCESS_REFUSED"));
}

TEST(rabbitmq_login, an_unknown_virtual_host_is_an_error_at_once) {
    const rabbitmq_server server;
    EXPECT_THAT(refusal_of(server.url("nowhere")).message(), HasSubstr("nowhere"));
}

TEST(rabbitmq_login, a_group_and_a_publisher_are_told_at_once_too) {
    const rabbitmq_server server;
    const auto broker = open_quietly(server.url("nowhere"));
    const auto topic = runtime_topic::make(shove::topology("orders")).value();
    const auto sent = broker.publisher().try_publish(topic, "body");
    ASSERT_FALSE(sent.has_value());
    EXPECT_FALSE(is_retryable(sent.error().code)) << sent.error().message();
    auto group = broker.consumer_group();
    group.add(topic, [](std::span<const std::byte>, const delivery&) { return ack; });
    EXPECT_THROW(group.start(), exception);
}

TEST(rabbitmq_login, an_authority_that_did_not_sign_is_an_error_at_once) {
    const rabbitmq_server server;
    const vhost mine(server);
    EXPECT_THAT(refusal_of(mine.tls_url() + "?" + option("cacertfile", "OTHER_CA")).message(), HasSubstr("ca_file"));
}

TEST(rabbitmq_login, a_file_that_is_no_certificate_is_an_error_at_once) {
    const rabbitmq_server server;
    const vhost mine(server);
    const auto url = mine.tls_url() + "?" + option("cacertfile", "CA") + "&" + option("certfile", "CLIENT_KEY") + "&" +
                     option("keyfile", "CLIENT_KEY");
    EXPECT_THAT(refusal_of(url).message(), HasSubstr("certificate_file"));
}

TEST(rabbitmq_login, tls_with_the_right_authority_and_with_a_client_certificate) {
    const rabbitmq_server server;
    const vhost mine(server);
    const auto topic = runtime_topic::make(shove::topology("orders")).value();
    const auto ca = mine.tls_url() + "?" + option("cacertfile", "CA");
    const auto both = ca + "&" + option("certfile", "CLIENT_CERTIFICATE") + "&" + option("keyfile", "CLIENT_KEY");
    for (const auto& url : {ca, both}) {
        const auto broker = open_quietly(url);
        broker.declare(topic);
        broker.publisher().publish(topic, "body");
    }
    EXPECT_EQ(open_quietly(mine.url()).depth(topic).ready, 2U);
}

/// TLS connections break and come back as others do.
TEST(rabbitmq_login, tls_connections_come_back) {
    const rabbitmq_server server;
    const vhost mine(server);
    testkit::tcp_proxy network(server.tls_port());
    const auto topic = runtime_topic::make(shove::topology("orders")).value();
    const auto broker = open_quietly(server.tls_url(mine.name(), network.port()) + "?" + option("cacertfile", "CA"));
    broker.declare(topic);
    for (int n = 0; n < 3; ++n) {
        network.reset_all();
        testkit::eventually("a message to be stored",
                            [&] { return broker.publisher().try_publish(topic, "body").has_value(); });
    }
}

}  // namespace
}  // namespace shove::rabbitmq_test
