#include "management_tls.hpp"

#include <boost/asio/ip/address.hpp>

#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include <utility>

namespace shove::rabbitmq_backend {

namespace ssl = boost::asio::ssl;

result<ssl::context> make_tls_context(const std::filesystem::path& ca_file, bool verify_peer) {
    ssl::context made(ssl::context::tls_client);
    SSL_CTX_set_min_proto_version(made.native_handle(), TLS1_2_VERSION);
    made.set_verify_mode(verify_peer ? ssl::verify_peer : ssl::verify_none);
    error_code code;
    if (!ca_file.empty()) {
        made.load_verify_file(ca_file.string(), code);
        if (code) {
            return error(errc::invalid_argument, "management ca_file '" + ca_file.string() + "': " + code.message() +
                                                     "; give a readable file of PEM certificates");
        }
    } else if (verify_peer) {
        made.set_default_verify_paths(code);
        if (code) {
            return error(errc::invalid_argument, "the system's trusted certificates cannot be read (" + code.message() +
                                                     "); give a management ca_file");
        }
    }
    return made;
}

void expect_host(tls_stream& stream, const std::string& host, bool verify_peer) {
    auto* const session = stream.native_handle();
    error_code not_an_address;
    boost::asio::ip::make_address(host, not_an_address);
    if (not_an_address) SSL_set_tlsext_host_name(session, host.c_str());
    if (!verify_peer) return;
    SSL_set_hostflags(session, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    if (not_an_address) {
        SSL_set1_host(session, host.c_str());
    } else {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host.c_str());
    }
}

std::string handshake_failure(tls_stream& stream, const error_code& code) {
    const auto verdict = SSL_get_verify_result(stream.native_handle());
    if (verdict == X509_V_OK) return "the TLS handshake failed (" + code.message() + ")";
    return std::string("the certificate is refused (") + X509_verify_cert_error_string(verdict) +
           "); give the management ca_file that signed it, and the host that it names";
}

}  // namespace shove::rabbitmq_backend
