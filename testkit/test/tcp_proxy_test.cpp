#include <gtest/gtest.h>

#include <shove/testkit/events.hpp>
#include <shove/testkit/tcp_proxy.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <poll.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using shove::testkit::eventually;
using shove::testkit::flow;
using shove::testkit::patience;
using shove::testkit::tcp_proxy;

/// A target that answers nothing by itself, a proxy before it, and clients: all blocking, with a limit.
class proxy_test : public testing::Test {
protected:
    struct connection {
        tcp::socket client;
        tcp::socket server;
    };

    connection connect() {
        connection made{tcp::socket(io), tcp::socket(io)};
        made.client.connect(address(proxy.port()));
        if (!readable(target.native_handle(), patience())) throw std::runtime_error("the proxy did not connect");
        target.accept(made.server);
        return made;
    }
    error_code try_connect() {
        tcp::socket client(io);
        error_code failed;
        client.connect(address(proxy.port()), failed);
        return failed;
    }
    static tcp::endpoint address(std::uint16_t port) { return {asio::ip::address_v4::loopback(), port}; }
    static bool readable(int handle, std::chrono::milliseconds within) {
        pollfd asked{handle, POLLIN, 0};
        return ::poll(&asked, 1, static_cast<int>(within.count())) == 1;
    }
    static void send(tcp::socket& to, std::string_view text) { asio::write(to, asio::buffer(text)); }
    static std::string receive(tcp::socket& from, std::size_t n) {
        std::string text(n, '\0');
        std::size_t have = 0;
        while (have < n && readable(from.native_handle(), patience())) {
            error_code failed;
            have += from.read_some(asio::buffer(text.data() + have, n - have), failed);
            if (failed) break;
        }
        text.resize(have);
        return text;
    }
    /// How a connection ended.
    static error_code end_of(tcp::socket& what) {
        if (!readable(what.native_handle(), patience())) return asio::error::timed_out;
        char byte = 0;
        error_code failed;
        what.read_some(asio::buffer(&byte, 1), failed);
        return failed;
    }

    asio::io_context io;
    tcp::acceptor target{io, address(0)};
    tcp_proxy proxy{target.local_endpoint().port()};
};

TEST_F(proxy_test, forwards_both_ways) {
    auto [client, server] = connect();
    send(client, "question");
    EXPECT_EQ(receive(server, 8), "question");
    send(server, "answer");
    EXPECT_EQ(receive(client, 6), "answer");
    EXPECT_EQ(proxy.connections(), 1U);
    EXPECT_EQ(proxy.accepted(), 1U);
}

TEST_F(proxy_test, forwards_more_than_it_holds) {
    auto [client, server] = connect();
    std::string much(8 << 20, '\0');
    for (std::size_t i = 0; i < much.size(); ++i)
        much[i] = static_cast<char>(i * 7919 >> 8);
    std::size_t sent = 0;
    client.non_blocking(true);
    std::string got;
    while (got.size() < much.size()) {
        error_code ignored;
        if (sent < much.size())
            sent += client.write_some(asio::buffer(much.data() + sent, much.size() - sent), ignored);
        if (readable(server.native_handle(), sent < much.size() ? 0ms : patience())) got += receive(server, 1);
        const auto more = server.available();
        got += receive(server, more);
    }
    EXPECT_TRUE(got == much);
}

TEST_F(proxy_test, passes_on_that_one_side_has_finished) {
    auto [client, server] = connect();
    send(client, "last words");
    client.shutdown(tcp::socket::shutdown_send);
    EXPECT_EQ(receive(server, 10), "last words");
    EXPECT_EQ(end_of(server), asio::error::eof);
    send(server, "heard");
    EXPECT_EQ(receive(client, 5), "heard");
    server.close();
    EXPECT_EQ(end_of(client), asio::error::eof);
    eventually("the end of the connection", [&] { return proxy.connections() == 0; });
}

TEST_F(proxy_test, closes_all_in_order) {
    auto one = connect();
    auto two = connect();
    proxy.close_all();
    EXPECT_EQ(proxy.connections(), 0U);
    for (auto* each : {&one.client, &one.server, &two.client, &two.server})
        EXPECT_EQ(end_of(*each), asio::error::eof);
    auto [client, server] = connect();
    send(client, "again");
    EXPECT_EQ(receive(server, 5), "again");
}

TEST_F(proxy_test, resets_all) {
    auto [client, server] = connect();
    proxy.reset_all();
    EXPECT_EQ(end_of(client), asio::error::connection_reset);
    EXPECT_EQ(end_of(server), asio::error::connection_reset);
}

TEST_F(proxy_test, passes_a_reset_on) {
    auto [client, server] = connect();
    server.set_option(tcp::socket::linger(true, 0));
    server.close();
    EXPECT_EQ(end_of(client), asio::error::connection_reset);
}

TEST_F(proxy_test, stalls_and_then_gives_what_it_held) {
    auto [client, server] = connect();
    proxy.stall();
    send(client, "held");
    EXPECT_FALSE(readable(server.native_handle(), 50ms));
    auto late = connect();
    send(late.client, "too");
    EXPECT_FALSE(readable(late.server.native_handle(), 50ms));
    proxy.release();
    EXPECT_EQ(receive(server, 4), "held");
    EXPECT_EQ(receive(late.server, 3), "too");
}

TEST_F(proxy_test, stalls_one_way) {
    auto [client, server] = connect();
    proxy.stall(flow::to_client);
    send(client, "store this");
    EXPECT_EQ(receive(server, 10), "store this");
    send(server, "stored");
    EXPECT_FALSE(readable(client.native_handle(), 50ms));
    proxy.reset_all();
    EXPECT_EQ(end_of(client), asio::error::connection_reset);
}

TEST_F(proxy_test, delays_without_adding_up) {
    auto [client, server] = connect();
    proxy.delay(100ms);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 20; ++i)
        send(client, "x");
    EXPECT_EQ(receive(server, 20).size(), 20U);
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_GE(took, 100ms);
    EXPECT_LT(took, 1500ms);  // 20 in a row would take 2 s
    proxy.delay(0ms);
    send(client, "y");
    EXPECT_EQ(receive(server, 1), "y");
}

TEST_F(proxy_test, closes_amid_a_message_once) {
    auto [client, server] = connect();
    proxy.close_after(7, flow::to_target);
    send(client, "abc");
    EXPECT_EQ(receive(server, 3), "abc");
    send(client, "defghij");
    EXPECT_EQ(receive(server, 7), "defg");
    EXPECT_EQ(proxy.connections(), 0U);
    auto again = connect();
    send(again.client, "abcdefghij");
    EXPECT_EQ(receive(again.server, 10), "abcdefghij");
}

TEST_F(proxy_test, refuses_and_admits_again) {
    auto [client, server] = connect();
    proxy.refuse();
    EXPECT_EQ(try_connect(), asio::error::connection_refused);
    send(client, "still open");
    EXPECT_EQ(receive(server, 10), "still open");
    proxy.admit();
    EXPECT_FALSE(try_connect());
}

TEST_F(proxy_test, resets_a_client_when_there_is_no_target) {
    target.close();
    tcp::socket client(io);
    client.connect(address(proxy.port()));
    EXPECT_EQ(end_of(client), asio::error::connection_reset);
}

TEST_F(proxy_test, ends_with_connections_open) {
    auto temporary = std::make_unique<tcp_proxy>(target.local_endpoint().port());
    tcp::socket client(io);
    client.connect(address(temporary->port()));
    eventually("the connection", [&] { return temporary->connections() == 1; });
    temporary.reset();
    EXPECT_EQ(end_of(client), asio::error::eof);
}

}  // namespace
