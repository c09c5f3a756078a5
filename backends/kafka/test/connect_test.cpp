// Who may connect: TLS, SASL, tokens; and what is said where that fails.

#include "kafka_server.hpp"
#include "waiting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <sstream>
#include <string>

namespace shove::kafka_test {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

std::string text_of(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

std::string base64url(std::string_view text) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string made;
    unsigned bits = 0;
    int have = 0;
    for (const unsigned char c : text) {
        bits = (bits << 8U | c) & 0xFFFFU;
        have += 8;
        for (; have >= 6; have -= 6)
            made += letters[bits >> (have - 6) & 63U];
    }
    if (have > 0) made += letters[bits << (6 - have) & 63U];
    return made;
}

/// A token without a signature, which the broker of the tests takes.
kafka::token token_for(const std::string& who, std::chrono::seconds valid) {
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    const auto at = [](auto when) { return std::to_string(when.time_since_epoch().count()); };
    kafka::token made;
    made.value = base64url(R"({"alg":"none"})") + "." +
                 base64url(R"({"sub":")" + who + R"(","iat":)" + at(now) + R"(,"exp":)" + at(now + valid) + "}") + ".";
    made.principal = who;
    made.expires_at = now + valid;
    return made;
}

class connect_test : public testing::Test {
protected:
    kafka_server server;
    const std::string ca = testkit::broker_setting("CA");
};

TEST_F(connect_test, plain) {
    EXPECT_FALSE(opened(server.url()).ping());
}

TEST_F(connect_test, tls_trusts_whom_it_is_told_to) {
    EXPECT_FALSE(opened(server.url("TLS") + "?ca_file=" + ca).ping());
    auto settings = kafka::parse(server.url("TLS")).value();
    settings.ca_pem = text_of(ca);
    EXPECT_FALSE(opened(settings).ping());
    const auto other = opened(server.url("TLS") + "?ca_file=" + testkit::broker_setting("OTHER_CA")).ping(2s);
    EXPECT_TRUE(other);
    EXPECT_FALSE(opened(server.url("TLS") + "?verify_peer=false").ping());
}

TEST_F(connect_test, tls_shows_its_own_certificate) {
    auto settings = kafka::parse(server.url("TLS") + "?ca_file=" + ca).value();
    settings.certificate_file = testkit::broker_setting("CLIENT_CERTIFICATE");
    settings.key_file = testkit::broker_setting("CLIENT_KEY");
    EXPECT_FALSE(opened(settings).ping());
    settings.certificate_pem = text_of(settings.certificate_file);
    settings.key_pem = text_of(settings.key_file);
    settings.certificate_file = settings.key_file = "";
    EXPECT_FALSE(opened(settings).ping());
    settings.key_pem = "no key";
    const auto refused = kafka::open(settings, {make_system_clock()});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), errc::invalid_argument);
}

TEST_F(connect_test, sasl) {
    for (const auto* mechanism : {"plain", "scram-sha-256", "scram-sha-512"}) {
        const auto with = std::string("sasl=") + mechanism;
        EXPECT_FALSE(opened(server.url("SASL") + "?" + with).ping()) << mechanism;
        EXPECT_FALSE(opened(server.url("SASL_TLS") + "?ca_file=" + ca + "&" + with).ping()) << mechanism;
    }
}

TEST_F(connect_test, a_wrong_password_is_told_without_it) {
    auto settings = kafka::parse(server.url("SASL")).value();
    settings.password = "hush-hush";
    const auto cause = opened(settings).ping(2s);
    EXPECT_TRUE(cause);
    EXPECT_THAT(cause.message(), HasSubstr("uthentication"));
    EXPECT_THAT(cause.message(), Not(HasSubstr("hush")));
}

TEST_F(connect_test, tokens) {
    auto settings = kafka::parse(server.url("SASL")).value();
    settings.user = settings.password = "";
    settings.sasl = kafka::sasl_mechanism::oauthbearer;
    std::atomic<int> asked = 0;
    settings.get_token = [&]() -> result<kafka::token> {
        ++asked;
        return token_for("me", 1h);
    };
    EXPECT_FALSE(opened(settings).ping());
    EXPECT_GT(asked, 0);
    settings.get_token = []() -> result<kafka::token> { return error(errc::not_connected, "no tokens today"); };
    const auto cause = opened(settings).ping(2s);
    EXPECT_TRUE(cause);
    EXPECT_THAT(cause.message(), HasSubstr("no tokens today"));
}

TEST_F(connect_test, ping_fails_in_time) {
    const opened nowhere("kafka://127.0.0.1:1");
    const auto began = std::chrono::steady_clock::now();
    EXPECT_TRUE(nowhere.ping(300ms));
    EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
}

TEST_F(connect_test, a_closed_driver_says_so) {
    const opened on(server.url());
    const auto until = std::chrono::steady_clock::now() + 5s;
    EXPECT_FALSE(waited<error>([&](auto done) { on->close(until, std::move(done)); }));
    EXPECT_EQ(on.ping(), errc::closed);
    EXPECT_FALSE(waited<error>([&](auto done) { on->close(until, std::move(done)); })) << "again";
}

}  // namespace

}  // namespace shove::kafka_test
