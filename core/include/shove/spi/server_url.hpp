#pragma once

#include <shove/error.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Reading `scheme://user:password@host:port,host/path?options`: for the backends whose broker is a server.
namespace shove::spi {

/// Where a broker listens.
struct server_address {
    std::string host;        ///< A name, an IPv4 or an IPv6 address (without brackets).
    std::uint16_t port = 0;  ///< 0: not said.
};

/// Who goes by what name.
struct credentials {
    std::string user;
    std::string password;
};

/// The parts of a URL. Views point into it.
struct server_url {
    std::string scheme;  ///< In lower case.
    std::optional<credentials> login;
    std::vector<server_address> servers;  ///< Empty: none is named.
    std::string_view path;                ///< With its slash, still encoded.
    std::string_view query;               ///< Behind the `?`, still encoded.
};

/// What the errors of a backend say.
struct url_words {
    std::string_view prefix;   ///< `RabbitMQ URL: `
    std::string_view form;     ///< What such a URL looks like: `amqp://user:password@host:5672/virtual-host, or …`.
    std::string_view encoded;  ///< Where delimiters must be encoded: `user, password, virtual host and options`.
};

/// Cuts a URL at its delimiters and decodes user, password and hosts.
/// @par Errors  `errc::invalid_argument`, with the remedy. None shows a piece of what stands before the options: with
/// one
///              character forgotten, any of it may be a password.
result<server_url> read_server_url(std::string_view url, const url_words& words);

/// True of `localhost`, 127.0.0.0/8, the same mapped into IPv6, and IPv6's own loopback: what is sent there does not
/// leave this machine.
bool is_loopback(std::string_view host);

/// True of what may be a host: 1 to 255 printable characters without space, `/` and `@`.
bool plausible_host(std::string_view host) noexcept;

/// `host:port`, with brackets around an IPv6 address.
std::string address_text(std::string_view host, std::uint16_t port);

}  // namespace shove::spi
