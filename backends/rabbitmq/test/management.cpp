#include "management.hpp"

#include <shove/testkit/real_broker.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/beast/core/detail/base64.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <cctype>
#include <charconv>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace shove::rabbitmq_test {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using request = http::request<http::string_body>;
using response = http::response<http::string_body>;

std::string base64(std::string_view plain) {
    namespace detail = beast::detail::base64;
    std::string made(detail::encoded_size(plain.size()), '\0');
    made.resize(detail::encode(made.data(), plain.data(), plain.size()));
    return made;
}

request make_request(const address& at, std::string_view method, const std::string& path, std::string body) {
    request made(http::string_to_verb(method), path, 11);
    made.set(http::field::host, at.host);
    made.set(http::field::authorization, "Basic " + base64(at.credentials));
    made.set(http::field::content_type, "application/json");
    made.keep_alive(false);
    made.body() = std::move(body);
    made.prepare_payload();
    return made;
}

asio::awaitable<response> exchange(asio::ip::tcp::endpoint to, request question) {
    beast::tcp_stream stream(co_await asio::this_coro::executor);
    stream.expires_after(std::chrono::seconds(15));
    co_await stream.async_connect(to, asio::use_awaitable);
    co_await http::async_write(stream, question, asio::use_awaitable);
    beast::flat_buffer buffer;
    response reply;
    co_await http::async_read(stream, buffer, reply, asio::use_awaitable);
    co_return reply;
}

}  // namespace

std::string percent_encoded(std::string_view name) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string made;
    for (const unsigned char c : name) {
        if (std::isalnum(c) || std::string_view("-_.~").find(static_cast<char>(c)) != std::string_view::npos) {
            made += static_cast<char>(c);
        } else {
            (made += '%') += digits[c >> 4];
            made += digits[c & 15];
        }
    }
    return made;
}

address::address(std::string_view url) {
    const auto colon = url.find("://");
    const auto at = url.find('@', colon);
    const auto last = url.rfind(':');
    if (colon == url.npos || at == url.npos || last == url.npos || last < at) {
        throw std::invalid_argument("not scheme://user:password@host:port: " + std::string(url));
    }
    scheme = url.substr(0, colon);
    credentials = url.substr(colon + 3, at - colon - 3);
    host = url.substr(at + 1, last - at - 1);
    const auto digits = url.substr(last + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), port);
}

std::string address::url(std::string_view vhost, std::uint16_t other_port) const {
    return scheme + "://" + credentials + "@" + host + ":" + std::to_string(other_port) + "/" + percent_encoded(vhost);
}

answer call_management(const address& at, std::string_view method, const std::string& path, std::string body) {
    asio::io_context io;
    const asio::ip::tcp::endpoint to(asio::ip::make_address(at.host), at.port);
    auto done = asio::co_spawn(io, exchange(to, make_request(at, method, path, std::move(body))), asio::use_future);
    io.run();
    try {
        auto reply = done.get();
        return {reply.result_int(), std::move(reply.body())};
    } catch (const boost::system::system_error& e) {
        throw testkit::broker_error("RabbitMQ's management at port " + std::to_string(at.port) + " does not answer " +
                                    std::string(method) + " " + path + ": " + e.code().message() +
                                    "; does it run? `tools/brokers.sh status`, `tools/brokers.sh up NAME`");
    }
}

}  // namespace shove::rabbitmq_test
