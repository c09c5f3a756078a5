// Whom the client trusts over https.

#include "../src/management.hpp"
#include "management_certificates.hpp"
#include "management_server.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace shove::rabbitmq_test {

namespace {

using namespace std::chrono_literals;
using rabbitmq_backend::management;

reply overview_reply(const seen_request&) {
    return respond(R"({"rabbitmq_version":"3.10.8"})");
}

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

/// An authority, and a file with its certificate.
class management_tls_test : public testing::Test {
protected:
    management_tls_test() {
        const auto* const info = testing::UnitTest::GetInstance()->current_test_info();
        file_ = std::filesystem::temp_directory_path() /
                ("shove-" + std::to_string(::getpid()) + '-' + info->name() + ".pem");
        write(authority_.certificate());
    }
    ~management_tls_test() override { std::filesystem::remove(file_); }

    void write(const std::string& text) const { std::ofstream(file_) << text; }
    rabbitmq_backend::management_options trusting(std::string url) const {
        auto made = options_for(std::move(url));
        made.ca_file = file_;
        return made;
    }

    authority authority_;
    std::filesystem::path file_;
};

TEST_F(management_tls_test, trusts_what_the_given_authority_signed) {
    http_server server(authority_.issue("IP:127.0.0.1"), overview_reply);
    const auto client = management::make(trusting(server.url())).value();
    EXPECT_TRUE(client->overview());
    EXPECT_TRUE(client->overview());
    EXPECT_EQ(server.connections(), 1u);
    EXPECT_EQ(server.server_name(), "");  // an address is not sent as a name
}

TEST_F(management_tls_test, asks_for_the_host_by_name) {
    http_server server(authority_.issue("DNS:localhost"), overview_reply);
    EXPECT_TRUE(management::make(trusting("https://localhost:" + server.port())).value()->overview());
    EXPECT_EQ(server.server_name(), "localhost");
}

TEST_F(management_tls_test, refuses_an_authority_that_the_system_does_not_know) {
    http_server server(authority_.issue("IP:127.0.0.1"), overview_reply);
    const auto answer = management::make(options_for(server.url())).value()->overview();
    EXPECT_EQ(answer.error(), errc::not_connected);
    EXPECT_TRUE(has(answer.error().message(), "certificate is refused")) << answer.error().message();
    EXPECT_TRUE(has(answer.error().message(), "ca_file")) << answer.error().message();
    EXPECT_TRUE(server.seen().empty());  // no password for a stranger
}

TEST_F(management_tls_test, refuses_another_authority) {
    const authority stranger;
    http_server server(stranger.issue("IP:127.0.0.1"), overview_reply);
    EXPECT_EQ(management::make(trusting(server.url())).value()->overview().error(), errc::not_connected);
    EXPECT_TRUE(server.seen().empty());
}

TEST_F(management_tls_test, refuses_a_certificate_of_another_host) {
    http_server server(authority_.issue("DNS:other.example,IP:127.0.0.2"), overview_reply);
    for (const auto& url : {server.url(), "https://localhost:" + server.port()}) {
        const auto answer = management::make(trusting(url)).value()->overview();
        EXPECT_EQ(answer.error(), errc::not_connected);
        EXPECT_TRUE(has(answer.error().message(), "mismatch")) << answer.error().message();
    }
    EXPECT_TRUE(server.seen().empty());
}

TEST_F(management_tls_test, trusts_anybody_if_told_so) {
    http_server server(authority_.issue("DNS:other.example"), overview_reply);
    auto options = options_for(server.url());
    options.verify_peer = false;
    EXPECT_TRUE(management::make(options).value()->overview());
}

TEST_F(management_tls_test, a_file_without_certificates_is_refused_at_once) {
    for (const auto* text :
         {"", "not a certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}) {
        write(text);
        const auto made = management::make(trusting("https://localhost"));
        ASSERT_FALSE(made) << text;
        EXPECT_EQ(made.error(), errc::invalid_argument);
        EXPECT_TRUE(has(made.error().message(), file_.filename().string())) << made.error().message();
    }
    std::filesystem::remove(file_);
    EXPECT_EQ(management::make(trusting("https://localhost")).error(), errc::invalid_argument);
}

TEST_F(management_tls_test, a_handshake_without_answer_ends_with_the_connect_timeout) {
    http_server server([](const auto&) { return reply{"", reply::then::hang, {}}; });
    auto options = trusting("https://127.0.0.1:" + server.port());
    options.connect_timeout = 100ms;
    const auto began = std::chrono::steady_clock::now();
    const auto answer = management::make(options).value()->overview();
    EXPECT_EQ(answer.error(), errc::not_connected);
    EXPECT_TRUE(has(answer.error().message(), "connect_timeout")) << answer.error().message();
    EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
}

TEST_F(management_tls_test, a_silent_server_ends_with_the_total_timeout) {
    http_server server(authority_.issue("IP:127.0.0.1"), [](const auto&) { return reply{"", reply::then::hang, {}}; });
    auto options = trusting(server.url());
    options.total_timeout = 1s;
    EXPECT_TRUE(has(management::make(options).value()->overview().error().message(), "total_timeout"));
}

TEST_F(management_tls_test, a_connection_closed_between_requests_is_replaced) {
    http_server server(authority_.issue("IP:127.0.0.1"), [](const auto& request) {
        auto made = overview_reply(request);
        made.next = reply::then::close;
        return made;
    });
    const auto client = management::make(trusting(server.url())).value();
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(client->overview());
    EXPECT_EQ(server.connections(), 3u);
}

TEST_F(management_tls_test, http_and_https_do_not_understand_each_other) {
    http_server secure(authority_.issue("IP:127.0.0.1"), overview_reply);
    EXPECT_EQ(management::make(options_for("http://127.0.0.1:" + secure.port())).value()->overview().error(),
              errc::not_connected);
}

}  // namespace

}  // namespace shove::rabbitmq_test
