// Requests and answers over real sockets, against a server that does as it is told.

#include "../src/management.hpp"
#include "management_server.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace shove::rabbitmq_test {

namespace {

using namespace std::chrono_literals;
using rabbitmq_backend::management;
using then = reply::then;

constexpr std::string_view overview_body = R"({"rabbitmq_version":"3.10.8","node":"n"})";

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

/// A client that gives up after 150 ms.
std::unique_ptr<management> hasty_client_of(const http_server& server) {
    auto options = options_for(server.url());
    options.connect_timeout = 150ms;
    options.total_timeout = 150ms;
    return management::make(options).value();
}

TEST(management_test, sends_user_and_password_as_basic_authentication) {
    http_server server([](const auto&) { return respond(overview_body); });
    EXPECT_EQ(client_of(server)->overview()->rabbitmq_version, "3.10.8");
    const auto head = server.seen().at(0).head;
    EXPECT_TRUE(head.starts_with("GET /api/overview?columns=rabbitmq_version,")) << head;
    EXPECT_TRUE(has(head, "\r\nAuthorization: Basic dGVzdGVyOnMzY3JldC13b3Jk\r\n")) << head;
    EXPECT_TRUE(has(head, "\r\nHost: 127.0.0.1:" + server.port() + "\r\n")) << head;
}

TEST(management_test, any_bytes_may_be_a_password) {
    http_server server([](const auto&) { return respond(overview_body); });
    auto options = options_for(server.url());
    options.password = std::string("\0:\r\n\xff", 5);
    EXPECT_TRUE(management::make(options).value()->overview());
    EXPECT_TRUE(has(server.seen().at(0).head, "\r\nAuthorization: Basic dGVzdGVyOgA6DQr/\r\n"));
}

TEST(management_test, encodes_virtual_host_and_names_behind_the_prefix) {
    http_server server(
        [](const auto& request) { return respond(has(request.target, "/bindings/") ? "[]" : R"({"name":"q"})"); });
    auto options = options_for(server.url() + "/mq/");
    options.virtual_host = "/";
    const auto client = management::make(options).value();
    EXPECT_TRUE(client->queue("a/b c"));
    EXPECT_TRUE(client->bindings_of_exchange("x%y"));
    EXPECT_TRUE(client->bindings_of_exchange(""));
    const auto seen = server.seen();
    EXPECT_TRUE(seen.at(0).target.starts_with("/mq/api/queues/%2F/a%2Fb%20c?columns=name,")) << seen[0].target;
    EXPECT_TRUE(seen.at(1).target.starts_with("/mq/api/exchanges/%2F/x%25y/bindings/source?")) << seen[1].target;
    EXPECT_TRUE(seen.at(2).target.starts_with("/mq/api/exchanges/%2F/amq.default/bindings/")) << seen[2].target;
}

TEST(management_test, names_that_would_change_the_path_are_not_sent) {
    http_server server([](const auto&) { return respond("{}"); });
    const auto client = client_of(server);
    for (const auto* name : {"", ".", ".."})
        EXPECT_EQ(client->queue(name).error(), errc::invalid_argument);
    for (const auto* name : {".", ".."}) {
        EXPECT_EQ(client->bindings_of_exchange(name).error(), errc::invalid_argument);
    }
    EXPECT_TRUE(server.seen().empty());
}

TEST(management_test, asks_for_all_pages_over_one_connection) {
    http_server server([](const auto& request) {
        if (has(request.target, "page=1&")) return respond(R"({"page_count":3,"items":[{"name":"b"},{"name":"c"}]})");
        if (has(request.target, "page=2&")) return respond(R"({"page_count":3,"items":[{"name":"c"},{"name":"d"}]})");
        return respond(R"({"page_count":3,"items":[{"name":"a","messages_ready":7}]})");
    });
    const auto all = client_of(server)->queues().value();
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0].name, "a");
    EXPECT_EQ(all[0].ready, 7u);
    EXPECT_EQ(all[3].name, "d");
    EXPECT_EQ(server.seen().size(), 3u);
    EXPECT_EQ(server.connections(), 1u);
    EXPECT_TRUE(server.seen()[0].target.starts_with("/api/queues/%2F?page=1&page_size=500&columns="));
}

TEST(management_test, a_page_that_is_gone_ends_the_list) {
    http_server server([](const auto& request) {
        if (has(request.target, "page=1&")) return respond(R"({"page_count":2,"items":[{"name":"a"}]})");
        return respond(R"({"error":"page_out_of_range"})", "400 Bad Request");
    });
    EXPECT_EQ(client_of(server)->queues()->size(), 1u);
}

TEST(management_test, pages_without_end_are_cut_by_the_total_timeout) {
    http_server server([](const auto&) { return respond(R"({"page_count":999999999,"items":[{"name":"a"}]})"); });
    EXPECT_EQ(hasty_client_of(server)->queues().error(), errc::not_connected);
}

TEST(management_test, a_status_becomes_an_error) {
    std::string status;
    http_server server([&](const auto&) { return respond(R"({"error":"x","reason":"y"})", status); });
    const auto client = client_of(server);
    for (const auto* refused : {"401 Unauthorized", "403 Forbidden"}) {
        status = refused;
        EXPECT_EQ(client->overview().error(), errc::invalid_argument);
        EXPECT_TRUE(has(client->queue("q").error().message(), "refuses the user 'tester'"));
        EXPECT_TRUE(has(client->queues().error().message(), "check user and password"));
    }
    status = "404 Not Found";
    EXPECT_EQ(client->queue("orders").error(), errc::unknown_queue);
    EXPECT_TRUE(has(client->queue("orders").error().message(), "'orders'"));
    EXPECT_EQ(client->queues().error(), errc::invalid_argument);
    EXPECT_TRUE(has(client->queues().error().message(), "virtual host '/'"));
    EXPECT_EQ(client->bindings_of_exchange("x").error(), errc::invalid_argument);
    EXPECT_EQ(client->overview().error(), errc::not_connected);
    for (const auto* other : {"500 Oops", "503 Busy", "302 Found", "400 Bad Request", "429 Slow Down"}) {
        status = other;
        EXPECT_EQ(client->queue("q").error(), errc::not_connected);
        EXPECT_EQ(client->queues().error(), errc::not_connected);
        EXPECT_TRUE(has(client->overview().error().message(), std::string(other).substr(0, 3)));
    }
    EXPECT_EQ(server.connections(), 1u);
}

TEST(management_test, an_answer_that_is_not_the_api_is_a_decode_error) {
    http_server server([](const auto&) { return respond("<html>log in</html>"); });
    const auto client = client_of(server);
    EXPECT_EQ(client->queue("q").error(), errc::decode_failed);
    EXPECT_EQ(client->queues().error(), errc::decode_failed);
    EXPECT_EQ(client->bindings_of_exchange("e").error(), errc::decode_failed);
    EXPECT_EQ(client->overview().error(), errc::decode_failed);
}

TEST(management_test, reads_chunks_and_bodies_that_end_with_the_connection) {
    http_server server([](const auto& request) {
        reply made;
        if (request.turn == 1 && request.connection == 1) {
            made.bytes =
                "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n8\r\n{\"name\":\r\n4\r\n\"q\"}\r\n0\r\n\r\n";
        } else {
            made.bytes = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{\"name\":\"q\"}";
            made.next = then::close;
        }
        return made;
    });
    const auto client = client_of(server);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(client->queue("q")->name, "q");
    EXPECT_EQ(server.connections(), 2u);
}

TEST(management_test, a_slow_body_ends_with_the_total_timeout) {
    http_server server([](const auto&) {
        auto made = respond(std::string(10'000, ' ') + "{}");
        made.per_byte = 5ms;
        return made;
    });
    const auto client = hasty_client_of(server);
    const auto began = std::chrono::steady_clock::now();
    const auto answer = client->overview();
    EXPECT_EQ(answer.error(), errc::not_connected);
    EXPECT_TRUE(has(answer.error().message(), "total_timeout")) << answer.error().message();
    EXPECT_GE(std::chrono::steady_clock::now() - began, 150ms);
    EXPECT_EQ(server.connections(), 1u);
}

TEST(management_test, silence_ends_with_the_total_timeout_and_the_next_call_dials_again) {
    http_server server([](const auto& request) {
        auto made = respond(overview_body);
        if (request.connection == 1) made = {"", then::hang, {}};
        return made;
    });
    auto options = options_for(server.url());
    options.total_timeout = 1s;
    const auto client = management::make(options).value();
    EXPECT_EQ(client->overview().error(), errc::not_connected);
    EXPECT_TRUE(client->overview());
    EXPECT_EQ(server.connections(), 2u);
}

TEST(management_test, a_huge_body_is_refused) {
    http_server server([](const auto& request) {
        auto made = respond(std::string(16 * 1024 * 1024 + 1, ' '));
        if (has(request.target, "/queues/")) {  // without saying its size beforehand
            made.bytes.replace(0, made.bytes.find("\r\n\r\n"), "HTTP/1.1 200 OK\r\nconnection: close");
            made.next = then::close;
        }
        return made;
    });
    const auto client = client_of(server);
    EXPECT_EQ(client->overview().error(), errc::too_large);
    EXPECT_TRUE(has(client->queue("q").error().message(), "16 MiB"));
}

TEST(management_test, a_body_at_the_limit_is_read) {
    http_server server([](const auto&) {
        std::string body(16 * 1024 * 1024, ' ');
        return respond(body.replace(0, overview_body.size(), overview_body));
    });
    EXPECT_TRUE(client_of(server)->overview());
}

TEST(management_test, a_connection_closed_between_requests_is_replaced) {
    for (const auto end : {then::close, then::reset}) {
        http_server server([&](const auto&) {
            auto made = respond(overview_body);
            made.next = end;
            return made;
        });
        const auto client = client_of(server);
        for (int i = 0; i < 3; ++i)
            EXPECT_TRUE(client->overview());
        EXPECT_EQ(server.connections(), 3u);
    }
}

TEST(management_test, a_connection_closed_at_the_second_request_is_replaced_once) {
    http_server server([](const auto& request) {
        return request.turn == 2 ? reply{"", then::close, {}} : respond(overview_body);
    });
    const auto client = client_of(server);
    for (int i = 0; i < 3; ++i)
        EXPECT_TRUE(client->overview());
    EXPECT_EQ(server.seen().size(), 5u);
    EXPECT_EQ(server.connections(), 3u);
}

TEST(management_test, a_new_connection_that_is_closed_is_not_replaced) {
    http_server server([](const auto&) { return reply{"", then::close, {}}; });
    const auto answer = client_of(server)->overview();
    EXPECT_EQ(answer.error(), errc::not_connected);
    EXPECT_TRUE(has(answer.error().message(), "closed the connection"));
    EXPECT_EQ(server.connections(), 1u);
}

TEST(management_test, an_answer_cut_off_is_not_asked_for_again) {
    http_server server([](const auto& request) {
        auto made = respond(overview_body);
        if (request.turn == 2) made = {made.bytes.substr(0, made.bytes.size() - 3), then::close, {}};
        return made;
    });
    const auto client = client_of(server);
    EXPECT_TRUE(client->overview());
    EXPECT_EQ(client->overview().error(), errc::not_connected);
    EXPECT_EQ(server.connections(), 1u);
}

TEST(management_test, bytes_after_an_answer_are_not_the_next_answer) {
    http_server server([](const auto& request) {
        auto made = respond(overview_body);
        if (request.connection == 1) made.bytes += respond(R"({"rabbitmq_version":"forged"})").bytes;
        return made;
    });
    const auto client = client_of(server);
    EXPECT_EQ(client->overview()->rabbitmq_version, "3.10.8");
    EXPECT_EQ(client->overview()->rabbitmq_version, "3.10.8");
    EXPECT_EQ(server.connections(), 2u);
}

TEST(management_test, what_is_not_http_is_no_answer) {
    http_server server([](const auto&) { return reply{"AMQP\0\0\x09\x01 what?\r\n\r\n", then::close, {}}; });
    EXPECT_EQ(client_of(server)->overview().error(), errc::not_connected);
}

TEST(management_test, nobody_there_is_not_connected) {
    std::string url;
    {
        http_server server([](const auto&) { return reply(); });
        url = server.url();
    }
    const auto answer = management::make(options_for(url)).value()->overview();
    EXPECT_EQ(answer.error(), errc::not_connected);
    EXPECT_TRUE(has(answer.error().message(), url)) << answer.error().message();
    const auto unknown = management::make(options_for("http://no-such-host.invalid")).value()->overview();
    EXPECT_EQ(unknown.error(), errc::not_connected);
}

TEST(management_test, stop_ends_a_running_call_and_all_later_ones) {
    http_server server([](const auto&) { return reply{"", then::hang, {}}; });
    const auto client = client_of(server);
    std::thread other([&] {
        server.wait_for_request();
        client->stop();
    });
    EXPECT_EQ(client->overview().error(), errc::closed);
    other.join();
    EXPECT_EQ(client->queues().error(), errc::closed);
    client->stop();
    EXPECT_EQ(server.seen().size(), 1u);
}

TEST(management_test, no_error_holds_a_credential) {
    std::vector<reply> replies{{"", then::close, {}}, {"", then::hang, {}}, {"s3cret-word\r\n\r\n", then::close, {}}};
    const std::string echo = R"({"reason":"tester:s3cret-word dGVzdGVyOnMzY3JldC13b3Jk"})";
    for (const auto* status : {"200 OK", "401 s3cret-word", "404 s3cret-word", "500 s3cret-word"}) {
        replies.push_back(respond(echo, status));
    }
    replies.push_back(respond("s3cret-word"));
    for (const auto& what : replies) {
        http_server server([&](const auto&) { return what; });
        const auto client = hasty_client_of(server);
        for (const auto& text : {client->queue("q").error().message(), client->queues().error().message(),
                                 client->overview().error().message()}) {
            EXPECT_FALSE(text.empty());
            EXPECT_FALSE(has(text, "s3cret-word") || has(text, "dGVzdGVy")) << text;
        }
    }
}

}  // namespace

}  // namespace shove::rabbitmq_test
