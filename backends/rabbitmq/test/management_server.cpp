#include "management_server.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <openssl/ssl.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace shove::rabbitmq_test {

namespace asio = boost::asio;
using asio::ip::tcp;
using secure_stream = asio::ssl::stream<tcp::socket>;

reply respond(std::string_view body, std::string_view status) {
    reply made;
    made.bytes = "HTTP/1.1 " + std::string(status) +
                 "\r\ncontent-type: application/json\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n" +
                 std::string(body);
    return made;
}

class http_server::room {
public:
    room(std::function<reply(const seen_request&)> answers, std::optional<identity> who)
        : answers_(std::move(answers)), acceptor_(context_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
        if (who) {
            tls_.emplace(asio::ssl::context::tls_server);
            tls_->use_private_key(asio::buffer(who->key), asio::ssl::context::pem);
            tls_->use_certificate(asio::buffer(who->certificate), asio::ssl::context::pem);
        }
        asio::co_spawn(context_, accept(), asio::detached);
        thread_ = std::thread([this] { context_.run(); });
    }
    room(const room&) = delete;
    room& operator=(const room&) = delete;
    ~room() {
        context_.stop();
        thread_.join();
    }

    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
    bool is_tls() const { return tls_.has_value(); }
    template <class Read>
    auto look(Read read) const {
        const std::lock_guard lock(guard_);
        return read(*this);
    }
    void wait_for_request() const {
        std::unique_lock lock(guard_);
        change_.wait(lock, [&] { return !seen_.empty(); });
    }

private:
    friend class http_server;

    asio::awaitable<void> accept() {
        for (;;) {
            auto socket = co_await acceptor_.async_accept(asio::use_awaitable);
            std::size_t number = 0;
            {
                const std::lock_guard lock(guard_);
                number = ++connections_;
            }
            if (tls_) {
                asio::co_spawn(context_, serve_tls(secure_stream(std::move(socket), *tls_), number), asio::detached);
            } else {
                asio::co_spawn(context_, serve(std::move(socket), number), asio::detached);
            }
        }
    }
    asio::awaitable<void> serve_tls(secure_stream stream, std::size_t number) {
        boost::system::error_code code;
        co_await stream.async_handshake(secure_stream::server, asio::redirect_error(asio::use_awaitable, code));
        if (code) co_return;
        const char* const name = SSL_get_servername(stream.native_handle(), TLSEXT_NAMETYPE_host_name);
        {
            const std::lock_guard lock(guard_);
            server_name_ = name ? name : "";
        }
        co_await serve(std::move(stream), number);
    }
    template <class Stream>
    asio::awaitable<void> serve(Stream stream, std::size_t number) {
        boost::system::error_code code;
        auto token = asio::redirect_error(asio::use_awaitable, code);
        std::string bytes;
        for (std::size_t turn = 1;; ++turn) {
            const auto size = co_await asio::async_read_until(stream, asio::dynamic_buffer(bytes), "\r\n\r\n", token);
            if (code) co_return;
            const auto what = answer(bytes.substr(0, size), number, turn);
            bytes.erase(0, size);
            const std::size_t step = what.per_byte.count() > 0 ? 1 : what.bytes.size();
            for (std::size_t at = 0; at < what.bytes.size() && !code; at += step) {
                if (what.per_byte.count() > 0) {
                    // real time: the slowness is what is tested
                    asio::steady_timer pause(context_, what.per_byte);
                    co_await pause.async_wait(asio::use_awaitable);
                }
                const auto part = asio::buffer(what.bytes.data() + at, step);
                co_await asio::async_write(stream, part, token);
            }
            if (what.next == reply::then::reset) stream.lowest_layer().set_option(tcp::socket::linger(true, 0), code);
            if (code || what.next == reply::then::close || what.next == reply::then::reset) co_return;
            if (what.next == reply::then::hang) {
                co_await asio::async_read_until(stream, asio::dynamic_buffer(bytes), "no such text", token);
            }
        }
    }
    reply answer(std::string head, std::size_t connection, std::size_t turn) {
        seen_request request;
        const auto from = head.find(' ') + 1;
        request.target = head.substr(from, head.find(' ', from) - from);
        request.head = std::move(head);
        request.connection = connection;
        request.turn = turn;
        {
            const std::lock_guard lock(guard_);
            seen_.push_back(request);
        }
        change_.notify_all();
        return answers_(request);
    }

    std::function<reply(const seen_request&)> answers_;
    mutable std::mutex guard_;
    mutable std::condition_variable change_;
    std::vector<seen_request> seen_;
    std::size_t connections_ = 0;
    std::string server_name_;
    std::optional<asio::ssl::context> tls_;
    asio::io_context context_;
    tcp::acceptor acceptor_;
    std::thread thread_;
};

http_server::http_server(std::function<reply(const seen_request&)> answers)
    : room_(std::make_unique<room>(std::move(answers), std::nullopt)) {}

http_server::http_server(identity who, std::function<reply(const seen_request&)> answers)
    : room_(std::make_unique<room>(std::move(answers), std::move(who))) {}

http_server::~http_server() = default;

std::string http_server::port() const {
    return std::to_string(room_->port());
}

std::string http_server::url() const {
    return (room_->is_tls() ? "https://127.0.0.1:" : "http://127.0.0.1:") + port();
}

std::vector<seen_request> http_server::seen() const {
    return room_->look([](const room& r) { return r.seen_; });
}

std::size_t http_server::connections() const {
    return room_->look([](const room& r) { return r.connections_; });
}

std::string http_server::server_name() const {
    return room_->look([](const room& r) { return r.server_name_; });
}

void http_server::wait_for_request() const {
    room_->wait_for_request();
}

rabbitmq_backend::management_options options_for(std::string url) {
    rabbitmq_backend::management_options made;
    made.url = std::move(url);
    made.user = "tester";
    made.password = "s3cret-word";
    return made;
}

std::unique_ptr<rabbitmq_backend::management> client_of(const http_server& server) {
    return rabbitmq_backend::management::make(options_for(server.url())).value();
}

}  // namespace shove::rabbitmq_test
