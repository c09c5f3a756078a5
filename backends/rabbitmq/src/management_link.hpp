#pragma once

#include "management_tls.hpp"
#include "management_url.hpp"
#include "management_wait.hpp"

#include <shove/clock.hpp>
#include <shove/error.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace shove::rabbitmq_backend {

/// An HTTP response.
struct http_answer {
    unsigned status = 0;
    std::string body;
};

/// What became of one request.
struct http_transfer {
    error_code code;     ///< Of Asio, Beast or TLS. `timed_out`: the deadline; `operation_aborted`: stopped.
    bool began = false;  ///< At least one byte of the answer was there.
    http_answer answer;
};

/// One connection to an HTTP server, plain or TLS, closed at its first failure.
/// @par Thread safety  None.
class http_link {
public:
    /// No body of an answer may be longer.
    static constexpr std::uint64_t max_body_bytes = 16 * 1024 * 1024;

    /// @param wait  Outlives this.
    /// @param tls   Used if the URL is `https`; outlives this.
    http_link(timed_wait& wait, management_url to, boost::asio::ssl::context* tls, bool verify_peer);

    /// True if connected, as far as is known.
    bool is_open() const noexcept { return stream_.has_value(); }
    /// Looks the host up and connects, by TLS too. A host of several addresses: each in turn gets its part of the time.
    /// The code of the error is as in `http_transfer`.
    error dial(steady_time deadline);
    /// Sends a GET and reads the answer. Only if open.
    http_transfer get(std::string_view target, std::string_view authorization, steady_time deadline);
    /// Idempotent.
    void close() noexcept;

private:
    using plain_stream = boost::asio::ip::tcp::socket;
    using endpoints = boost::asio::ip::tcp::resolver::results_type;

    plain_stream& socket();
    template <class Start>
    error_code await(steady_time deadline, Start start);
    error_code look_up(steady_time deadline, endpoints& found);
    error_code connect(const endpoints& found, steady_time deadline);
    error shake_hands(steady_time deadline);
    template <class Stream>
    http_transfer exchange(Stream& stream, std::string_view target, std::string_view authorization,
                           steady_time deadline);

    timed_wait* wait_;
    management_url to_;
    boost::asio::ssl::context* tls_;
    bool verify_peer_;
    boost::asio::ip::tcp::resolver resolver_;
    std::optional<std::variant<plain_stream, tls_stream>> stream_;
};

}  // namespace shove::rabbitmq_backend
