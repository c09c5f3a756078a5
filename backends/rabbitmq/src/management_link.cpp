#include "management_link.hpp"

#include <boost/asio/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

namespace shove::rabbitmq_backend {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

namespace {

error_code code_of(wait_end how) {
    if (how == wait_end::timed_out) return asio::error::timed_out;
    return asio::error::operation_aborted;
}

}  // namespace

http_link::http_link(timed_wait& wait, management_url to, asio::ssl::context* tls, bool verify_peer)
    : wait_(&wait), to_(std::move(to)), tls_(tls), verify_peer_(verify_peer), resolver_(wait.context()) {}

http_link::plain_stream& http_link::socket() {
    auto* const plain = std::get_if<plain_stream>(&*stream_);
    return plain ? *plain : std::get<tls_stream>(*stream_).next_layer();
}

void http_link::close() noexcept {
    stream_.reset();
}

/// Starts an operation on the socket and waits for it. One that is not done in time is made to end by closing the
/// socket, since it uses what the caller owns.
template <class Start>
error_code http_link::await(steady_time deadline, Start start) {
    bool done = false;
    error_code outcome;
    start([&done, &outcome](const error_code& code, auto&&...) {
        outcome = code;
        done = true;
    });
    const auto how = wait_->until(done, deadline);
    if (how == wait_end::done) return outcome;
    error_code ignored;
    socket().close(ignored);
    wait_->finish(done);
    return code_of(how);
}

error_code http_link::look_up(steady_time deadline, endpoints& found) {
    // A look-up cannot be made to end, so it shares what it writes to with the caller, who may be gone.
    struct lookup {
        bool done = false;
        error_code code;
        endpoints found;
    };
    const auto shared = std::make_shared<lookup>();
    resolver_.async_resolve(to_.host, to_.port, [shared](const error_code& code, endpoints results) {
        shared->code = code;
        shared->found = std::move(results);
        shared->done = true;
    });
    const auto how = wait_->until(shared->done, deadline);
    if (how != wait_end::done) {
        resolver_.cancel();
        return code_of(how);
    }
    found = std::move(shared->found);
    return shared->code;
}

error_code http_link::connect(const endpoints& found, steady_time deadline) {
    error_code outcome = asio::error::host_not_found;
    auto left = static_cast<std::ptrdiff_t>(found.size());
    for (const auto& entry : found) {
        const auto now = std::chrono::steady_clock::now();
        if (tls_ != nullptr) {
            stream_.emplace(std::in_place_type<tls_stream>, wait_->context(), *tls_);
        } else {
            stream_.emplace(std::in_place_type<plain_stream>, wait_->context());
        }
        outcome = await(now + (deadline - now) / left--,
                        [&](auto done) { socket().async_connect(entry.endpoint(), std::move(done)); });
        if (!outcome || wait_->is_stopped()) break;
        close();
    }
    return outcome;
}

error http_link::shake_hands(steady_time deadline) {
    auto& stream = std::get<tls_stream>(*stream_);
    expect_host(stream, to_.host, verify_peer_);
    const auto code =
        await(deadline, [&](auto done) { stream.async_handshake(asio::ssl::stream_base::client, std::move(done)); });
    if (!code) return {};
    error failed(code, handshake_failure(stream, code));
    close();
    return failed;
}

error http_link::dial(steady_time deadline) {
    close();
    endpoints found;
    if (const auto code = look_up(deadline, found)) return {code, "the host cannot be looked up: " + code.message()};
    if (const auto code = connect(found, deadline)) {
        close();
        return {code, code.message()};
    }
    error_code ignored;
    socket().set_option(asio::ip::tcp::no_delay(true), ignored);
    return tls_ != nullptr ? shake_hands(deadline) : error();
}

template <class Stream>
http_transfer http_link::exchange(Stream& stream, std::string_view target, std::string_view authorization,
                                  steady_time deadline) {
    http::request<http::empty_body> request(http::verb::get, {target.data(), target.size()}, 11);
    request.set(http::field::host, to_.authority());
    request.set(http::field::authorization, {authorization.data(), authorization.size()});
    request.set(http::field::accept, "application/json");
    request.set(http::field::user_agent, "shove");

    http_transfer outcome;
    outcome.code = await(deadline, [&](auto done) { http::async_write(stream, request, std::move(done)); });
    if (outcome.code) return outcome;

    beast::flat_buffer bytes;
    http::response_parser<http::string_body> parser;
    parser.body_limit(max_body_bytes);
    parser.header_limit(64 * 1024);  // proxies add some
    outcome.code = await(deadline, [&](auto done) { http::async_read(stream, bytes, parser, std::move(done)); });
    outcome.began = parser.got_some();
    if (outcome.code) return outcome;

    // Bytes that nobody asked for would be taken for the next answer.
    if (!parser.keep_alive() || bytes.size() != 0) close();
    outcome.answer.status = parser.get().result_int();
    outcome.answer.body = std::move(parser.get().body());
    return outcome;
}

http_transfer http_link::get(std::string_view target, std::string_view authorization, steady_time deadline) {
    auto outcome =
        std::visit([&](auto& stream) { return exchange(stream, target, authorization, deadline); }, *stream_);
    if (outcome.code) close();
    return outcome;
}

}  // namespace shove::rabbitmq_backend
