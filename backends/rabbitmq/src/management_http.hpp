#pragma once

#include "management_link.hpp"
#include "management_url.hpp"
#include "management_wait.hpp"

#include <shove/clock.hpp>
#include <shove/error.hpp>

#include <boost/asio/ssl/context.hpp>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace shove::rabbitmq_backend {

/// GET requests to one server, over a connection that is kept between them.
/// @par Thread safety  One request at a time; `stop` from any thread.
class http_client {
public:
    struct settings {
        management_url url;
        std::string authorization;  ///< The header's value.
        std::filesystem::path ca_file;
        bool verify_peer = true;
        std::chrono::milliseconds connect_timeout{};
    };

    /// Reads the certificates; connects to nothing yet.
    static result<std::unique_ptr<http_client>> make(settings with);

    /// One request and its answer, of whatever status. A kept connection that turns out to be closed is replaced once.
    /// @param path  With its query; the url's prefix is put before it.
    /// @par Errors  `errc::not_connected`, `errc::too_large`, `errc::closed`; with the server's address and the remedy.
    result<http_answer> get(std::string_view path, steady_time deadline);
    /// Ends the running request and all later ones with `errc::closed`.
    void stop() { wait_.stop(); }
    /// `http://host:port`
    std::string origin() const { return settings_.url.origin(); }

private:
    http_client(settings with, std::optional<boost::asio::ssl::context> tls);
    error dial(steady_time deadline);
    error not_dialled(const error& cause) const;
    error not_answered(const error_code& cause) const;

    settings settings_;
    timed_wait wait_;
    std::optional<boost::asio::ssl::context> tls_;
    http_link link_;
};

}  // namespace shove::rabbitmq_backend
