// Against the real broker that tests share.

#include "../src/management.hpp"
#include "management_url.hpp"
#include "rabbitmq_server.hpp"

#include <shove/testkit/events.hpp>

#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>

#include <unistd.h>

#include <chrono>
#include <iterator>
#include <memory>
#include <string>

namespace shove::rabbitmq_test {

namespace {

using namespace std::chrono_literals;
using rabbitmq_backend::management;
using rabbitmq_backend::percent_encoded;

/// How long a broker may take until its counters show what happened.
constexpr auto patience = 60s;

/// A virtual host of the test's own.
class management_broker_test : public testing::Test {
protected:
    void SetUp() override {
        options_.url = rabbitmq_server().management_url();
        options_.user = "guest";
        options_.password = "guest";
        const auto* const info = testing::UnitTest::GetInstance()->current_test_info();
        options_.virtual_host = "mgmt-test/" + std::to_string(::getpid()) + '-' + info->name();
        vhost_ = percent_encoded(options_.virtual_host);
        tell("PUT", "/api/vhosts/" + vhost_, "{}");
        client_ = management::make(options_).value();
    }
    void TearDown() override {
        if (client_) tell("DELETE", "/api/vhosts/" + vhost_, "");
    }

    /// Sends what the client cannot: changes.
    void tell(const std::string& method, const std::string& path, const std::string& body) {
        const auto to = rabbitmq_backend::parse_management_url(options_.url).value();
        boost::asio::ip::tcp::iostream stream(to.host, to.port);
        stream << method << ' ' << to.prefix << path << " HTTP/1.1\r\nHost: " << to.authority()
               << "\r\nAuthorization: Basic Z3Vlc3Q6Z3Vlc3Q=\r\nConnection: close\r\nContent-Type: application/json"
               << "\r\nContent-Length: " << body.size() << "\r\n\r\n"
               << body << std::flush;
        const std::string answer{std::istreambuf_iterator<char>(stream), {}};
        ASSERT_TRUE(answer.starts_with("HTTP/1.1 2")) << method << ' ' << path << ": " << answer;
    }
    void declare(const std::string& queue, const std::string& arguments) {
        tell("PUT", "/api/queues/" + vhost_ + '/' + percent_encoded(queue),
             R"({"durable":true,"arguments":)" + arguments + '}');
    }
    /// Asks until `fits` does.
    template <class Fits>
    rabbitmq_backend::queue_stats wait_for(const std::string& queue, Fits fits) {
        rabbitmq_backend::queue_stats stats;
        testkit::eventually(
            "the server's counts of " + queue,
            [&] {
                stats = client_->queue(queue).value();
                return fits(stats);
            },
            patience);
        return stats;
    }

    rabbitmq_backend::management_options options_;
    std::string vhost_;
    std::unique_ptr<management> client_;
};

TEST_F(management_broker_test, tells_its_versions) {
    const auto facts = client_->overview().value();
    EXPECT_NE(facts.rabbitmq_version, "");
    EXPECT_NE(facts.erlang_version, "");
    EXPECT_NE(facts.cluster_name, "");
    EXPECT_NE(facts.node, "");
    EXPECT_FALSE(facts.statistics_disabled);
}

TEST_F(management_broker_test, finds_queues_of_any_name) {
    declare("a/b é%?#", R"({"x-single-active-consumer":true,"x-max-priority":5})");
    declare("orders", R"({"x-queue-type":"quorum","x-dead-letter-exchange":""})");
    const auto odd = client_->queue("a/b é%?#").value();
    EXPECT_EQ(odd.name, "a/b é%?#");
    EXPECT_EQ(odd.type, "classic");
    EXPECT_TRUE(odd.durable);
    const rabbitmq_backend::argument_list expected{{"x-max-priority", "5"}, {"x-single-active-consumer", "true"}};
    EXPECT_EQ(odd.arguments, expected);
    EXPECT_EQ(client_->queue("orders")->type, "quorum");
    const auto all = client_->queues().value();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].name, "a/b é%?#");
    EXPECT_EQ(all[1].name, "orders");
    EXPECT_EQ(client_->bindings_of_exchange("")->size(), 2u);
}

TEST_F(management_broker_test, counts_messages) {
    declare("q", "{}");
    for (int i = 0; i < 2; ++i) {
        tell("POST", "/api/exchanges/" + vhost_ + "/amq.default/publish",
             R"({"properties":{"timestamp":1700000000},"routing_key":"q","payload":"x","payload_encoding":"string"})");
    }
    // The broker notes each on its own, not always in the same moment.
    const auto stats = wait_for("q", [](const auto& s) { return s.ready == 2 && s.head_published; });
    EXPECT_EQ(stats.ready, 2u);
    EXPECT_EQ(stats.unacknowledged, 0u);
    EXPECT_EQ(stats.consumers, 0u);
    EXPECT_EQ(stats.state, "running");
    EXPECT_EQ(stats.head_published, wall_time(1'700'000'000s));
}

TEST_F(management_broker_test, lists_more_than_a_page) {
    std::string queues;
    for (int i = 0; i < 1001; ++i) {
        queues += std::string(i > 0 ? "," : "") + R"({"name":"q)" + std::to_string(i) +
                  R"(","durable":false,"auto_delete":false,"arguments":{}})";
    }
    tell("POST", "/api/definitions/" + vhost_, R"({"queues":[)" + queues + "]}");
    EXPECT_EQ(client_->queues()->size(), 1001u);
}

TEST_F(management_broker_test, knows_what_is_not_there) {
    EXPECT_TRUE(client_->queues()->empty());
    EXPECT_EQ(client_->queue("orders").error(), errc::unknown_queue);
    options_.virtual_host += "-not";
    const auto elsewhere = management::make(options_).value();
    EXPECT_EQ(elsewhere->queues().error(), errc::invalid_argument);
    EXPECT_EQ(elsewhere->queue("orders").error(), errc::unknown_queue);
}

TEST_F(management_broker_test, refuses_a_wrong_password) {
    auto options = options_;
    options.password = "wrong";
    const auto answer = management::make(options).value()->overview();
    EXPECT_EQ(answer.error(), errc::invalid_argument);
    EXPECT_NE(answer.error().message().find("refuses the user 'guest'"), std::string::npos);
}

}  // namespace

}  // namespace shove::rabbitmq_test
