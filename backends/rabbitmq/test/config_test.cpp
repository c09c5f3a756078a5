// Which settings are refused, and how settings are shown.

#include <shove/spi/server_url.hpp>

#include <gtest/gtest.h>

#include <string>

#include "check_config.hpp"

namespace shove::rabbitmq_test {

namespace {

using namespace rabbitmq_backend;
using namespace std::chrono_literals;

rabbitmq::config remote() {
    rabbitmq::config made;
    made.servers = {{"localhost", 0}, {"broker.example", 0}};
    made.password = "secret";
    return made;
}

TEST(config_test, takes_the_defaults) {
    EXPECT_FALSE(check_config({}));
}

TEST(config_test, keeps_credentials_off_the_network) {
    auto it = remote();
    const auto cause = check_config(it);
    EXPECT_EQ(cause, errc::invalid_argument);
    EXPECT_NE(cause.detail.find("'broker.example'"), std::string::npos);
    EXPECT_NE(cause.detail.find("amqps://"), std::string::npos);
    EXPECT_NE(cause.detail.find("allow_plaintext_credentials"), std::string::npos);
    EXPECT_EQ(cause.detail.find("secret"), std::string::npos);
    it.allow_plaintext_credentials = true;
    EXPECT_FALSE(check_config(it));
    it.allow_plaintext_credentials = false;
    it.tls = true;
    EXPECT_FALSE(check_config(it));
    it.verify_peer = false;
    EXPECT_FALSE(check_config(it));
}

TEST(config_test, keeps_credentials_of_the_management_api_off_the_network) {
    rabbitmq::config it;
    it.management = "http://broker.example:15672";
    EXPECT_EQ(check_config(it), errc::invalid_argument);
    it.management = "http://[::1]:15672/";
    EXPECT_FALSE(check_config(it));
    it.management = "https://broker.example/prefix";
    EXPECT_FALSE(check_config(it));
    it.management = "http://broker.example:15672";
    it.allow_plaintext_credentials = true;
    EXPECT_FALSE(check_config(it));
    it.management = "http://user:secret@localhost";
    const auto cause = check_config(it);
    EXPECT_EQ(cause, errc::invalid_argument);
    EXPECT_EQ(cause.detail.find("secret"), std::string::npos);
}

TEST(config_test, knows_this_machine) {
    for (const auto* host :
         {"localhost", "LocalHost", "127.0.0.1", "127.255.255.254", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"}) {
        EXPECT_TRUE(spi::is_loopback(host)) << host;
    }
    for (const auto* host : {"", "localhost.example", "126.0.0.1", "128.0.0.1", "127.0.0.1.example", "::2",
                             "::", "::ffff:126.0.0.1", "0.0.0.0", "127.1"}) {
        EXPECT_FALSE(spi::is_loopback(host)) << host;
    }
}

TEST(config_test, holds_values_to_their_ranges) {
    const auto refused = [](auto&& change) {
        rabbitmq::config it;
        change(it);
        return check_config(it) == errc::invalid_argument;
    };
    EXPECT_TRUE(refused([](auto& c) { c.frame_max = 131'073; }));
    EXPECT_TRUE(refused([](auto& c) { c.servers.clear(); }));
    EXPECT_TRUE(refused([](auto& c) { c.servers[0].host = ""; }));
    EXPECT_TRUE(refused([](auto& c) { c.servers[0].host = "user:pw@host"; }));
    EXPECT_TRUE(refused([](auto& c) { c.user.assign(256, 'u'); }));
    EXPECT_TRUE(refused([](auto& c) { c.user = ""; }));
    EXPECT_TRUE(refused([](auto& c) { c.password = std::string("a\0b", 3); }));
    EXPECT_TRUE(refused([](auto& c) { c.virtual_host = ""; }));
    EXPECT_TRUE(refused([](auto& c) { c.connection_name.assign(256, 'n'); }));
    EXPECT_TRUE(refused([](auto& c) { c.heartbeat = -1s; }));
    EXPECT_TRUE(refused([](auto& c) { c.connect_timeout = 61min; }));
    EXPECT_TRUE(refused([](auto& c) { c.consumers_per_connection = 1024; }));
    EXPECT_TRUE(refused([](auto& c) { c.consumers_per_connection = 0; }));
    EXPECT_TRUE(refused([](auto& c) { c.channel_max = 99; }));
    EXPECT_TRUE(refused([](auto& c) { c.consumer_timeout = 999ms; }));
    EXPECT_FALSE(refused([](auto& c) { c.consumers_per_connection = 1023; }));
    EXPECT_FALSE(refused([](auto& c) { c.consumer_timeout = 0ms; }));
    EXPECT_FALSE(refused([](auto& c) { c.connection_name.assign(255, 'n'); }));
    EXPECT_FALSE(refused([](auto& c) { c.heartbeat = 0s; }));
}

TEST(config_test, is_shown_without_passwords) {
    auto it = remote();
    it.servers.push_back({"fe80::1", 99});
    it.management = "http://localhost:1";
    it.management_user = "operator";
    it.management_password = "secret too";
    const auto text = redacted(it);
    EXPECT_EQ(text.find("secret"), std::string::npos);
    EXPECT_NE(text.find("amqp://localhost:5672,broker.example:5672,[fe80::1]:99"), std::string::npos) << text;
    EXPECT_NE(text.find("operator"), std::string::npos);
    it.management = "http://user:secret@localhost";
    it.tls = true;
    EXPECT_EQ(redacted(it).find("secret"), std::string::npos);
    EXPECT_NE(redacted(it).find("localhost:5671"), std::string::npos);
}

}  // namespace

}  // namespace shove::rabbitmq_test
