#pragma once

#include "../src/management.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace shove::rabbitmq_test {

/// A request as a server saw it.
struct seen_request {
    std::string target;
    std::string head;            ///< Request line and headers.
    std::size_t connection = 0;  ///< The server's first is 1.
    std::size_t turn = 0;        ///< The connection's first is 1.
};

/// What a server does with a request.
struct reply {
    enum class then : std::uint8_t {
        keep,   ///< Wait for the next request.
        close,  ///< Close the connection.
        reset,  ///< Break it off.
        hang,   ///< Say nothing more.
    };
    std::string bytes;
    then next = then::keep;
    std::chrono::milliseconds per_byte{0};  ///< Pause before each byte.
};

/// A complete response.
reply respond(std::string_view body, std::string_view status = "200 OK");

/// Key and certificate of a server, PEM.
struct identity {
    std::string key;
    std::string certificate;
};

/// An HTTP server on a port of its own on 127.0.0.1, which answers as it is told.
class http_server {
public:
    /// `answers` is called on the server's thread.
    explicit http_server(std::function<reply(const seen_request&)> answers);
    /// The same by TLS.
    http_server(identity who, std::function<reply(const seen_request&)> answers);
    http_server(const http_server&) = delete;
    http_server& operator=(const http_server&) = delete;
    ~http_server();

    std::string port() const;
    /// `http://127.0.0.1:port`, or `https`.
    std::string url() const;
    /// All requests so far.
    std::vector<seen_request> seen() const;
    /// How many connections were made so far.
    std::size_t connections() const;
    /// What the last TLS client asked for by name.
    std::string server_name() const;
    /// Waits until a request has come.
    void wait_for_request() const;

private:
    class room;
    std::unique_ptr<room> room_;
};

/// Options for that server: user `tester`, password `s3cret-word`, virtual host `/`.
rabbitmq_backend::management_options options_for(std::string url);
/// A client with those options.
std::unique_ptr<rabbitmq_backend::management> client_of(const http_server& server);

}  // namespace shove::rabbitmq_test
