// What a base URL of the management API means, and how names become segments of a path.

#include "management_url.hpp"
#include "../src/management.hpp"
#include "management_server.hpp"

#include <gtest/gtest.h>

namespace shove::rabbitmq_test {

namespace {

using rabbitmq_backend::management;
using rabbitmq_backend::parse_management_url;
using rabbitmq_backend::percent_encoded;

TEST(management_url_test, takes_a_url_apart) {
    const auto plain = parse_management_url("http://localhost:15672").value();
    EXPECT_FALSE(plain.tls);
    EXPECT_EQ(plain.host, "localhost");
    EXPECT_EQ(plain.port, "15672");
    EXPECT_EQ(plain.prefix, "");
    const auto proxied = parse_management_url("HTTPS://Rabbit.example/some/m%20q/").value();
    EXPECT_TRUE(proxied.tls);
    EXPECT_EQ(proxied.origin(), "https://Rabbit.example:443");
    EXPECT_EQ(proxied.prefix, "/some/m%20q");
    EXPECT_EQ(parse_management_url("http://h/").value().port, "80");
    EXPECT_EQ(parse_management_url("http://h//").value().prefix, "");
}

TEST(management_url_test, knows_ipv6) {
    const auto made = parse_management_url("http://[::1]:15672/mq").value();
    EXPECT_EQ(made.host, "::1");
    EXPECT_EQ(made.authority(), "[::1]:15672");
    EXPECT_EQ(parse_management_url("https://[2001:db8::7]").value().origin(), "https://[2001:db8::7]:443");
}

TEST(management_url_test, refuses_others_without_repeating_them) {
    for (const auto* url : {"",
                            "http:",
                            "http://",
                            "http:///path",
                            "ftp://hunter2",
                            "amqp://hunter2:5672",
                            "hunter2:15672",
                            "http://user:hunter2@host",
                            "https://hunter2@host:1/x",
                            "http://host:hunter2",
                            "http://host:0",
                            "http://host:65536",
                            "http://host:",
                            "http://[::1",
                            "http://[::1]x",
                            "http://[]",
                            "http://h?hunter2",
                            "http://h/#hunter2",
                            "http://h/a b",
                            "http://h/\r\nhunter2: x",
                            "http://ho st",
                            "http://h\n/",
                            "http://@h",
                            "http:/user:hunter2@host",
                            "http://a:1:2"}) {
        const auto made = parse_management_url(url);
        ASSERT_FALSE(made) << url;
        EXPECT_EQ(made.error(), errc::invalid_argument) << url;
        EXPECT_NE(made.error().message().find("; "), std::string::npos) << url;
        EXPECT_EQ(made.error().message().find("hunter2"), std::string::npos) << url;
    }
}

TEST(management_url_test, says_where_user_and_password_belong) {
    EXPECT_NE(parse_management_url("http://me:pw@h").error().message().find("options of their own"), std::string::npos);
}

TEST(management_url_test, encodes_all_that_could_end_a_segment) {
    EXPECT_EQ(percent_encoded("/"), "%2F");
    EXPECT_EQ(percent_encoded("orders-dlq_2.x~"), "orders-dlq_2.x~");
    EXPECT_EQ(percent_encoded("a/b c?d#e%f+g&h;i"), "a%2Fb%20c%3Fd%23e%25f%2Bg%26h%3Bi");
    EXPECT_EQ(percent_encoded("\xc3\xa9\r\n"), "%C3%A9%0D%0A");
    EXPECT_EQ(percent_encoded(std::string_view("\0", 1)), "%00");
}

TEST(management_url_test, options_are_checked_before_anything_is_sent) {
    const auto message = [](auto change) {
        auto options = options_for("http://localhost:1");
        change(options);
        const auto made = management::make(options);
        EXPECT_EQ(made.error(), errc::invalid_argument);
        EXPECT_EQ(made.error().message().find("s3cret-word"), std::string::npos);
        return made.error().message();
    };
    const auto has = [](const std::string& text, std::string_view part) { return text.find(part) != text.npos; };
    EXPECT_TRUE(has(message([](auto& o) { o.url = "http://s3cret-word@h"; }), "url"));
    EXPECT_TRUE(has(message([](auto& o) { o.user.clear(); }), "user"));
    EXPECT_TRUE(has(message([](auto& o) { o.user = "tester:s3cret-word"; }), "':'"));
    EXPECT_TRUE(has(message([](auto& o) { o.password.append(5000, 'x'); }), "4096"));
    for (const auto* name : {"", ".", ".."}) {
        EXPECT_TRUE(has(message([&](auto& o) { o.virtual_host = name; }), "virtual host"));
    }
    EXPECT_TRUE(has(message([](auto& o) { o.connect_timeout = {}; }), "connect_timeout"));
    EXPECT_TRUE(has(message([](auto& o) { o.total_timeout = std::chrono::milliseconds(-1); }), "total_timeout"));
}

}  // namespace

}  // namespace shove::rabbitmq_test
