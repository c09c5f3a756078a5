#pragma once

#include <shove/error.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>

#include <filesystem>
#include <string>

namespace shove::rabbitmq_backend {

using tls_stream = boost::asio::ssl::stream<boost::asio::ip::tcp::socket>;

/// The settings of all TLS connections: TLS 1.2 or later, and whom to trust.
/// @param ca_file  PEM certificates to trust; empty: those of the system.
/// @par Errors  `errc::invalid_argument`: the file cannot be read, or holds no certificate.
result<boost::asio::ssl::context> make_tls_context(const std::filesystem::path& ca_file, bool verify_peer);

/// Readies a stream for its handshake: which host to ask for and, if verified, to demand in the certificate.
void expect_host(tls_stream& stream, const std::string& host, bool verify_peer);

/// Why a handshake failed, with the remedy where the certificate is at fault.
std::string handshake_failure(tls_stream& stream, const error_code& code);

}  // namespace shove::rabbitmq_backend
