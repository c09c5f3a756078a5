#include "secure_socket.hpp"

#include <amqp_ssl_socket.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "connection.hpp"

namespace shove::rabbitmq_backend {
namespace {

error unreadable(const std::string& peer, const std::string& what) {
    return {errc::invalid_argument, "RabbitMQ at " + peer + ": " + what};
}

/// rabbitmq-c's own check knows host names only: a certificate made out to an IP address would be refused.
void expect_host(amqp_socket_t* socket, const std::string& host) {
    auto* const rules = SSL_CTX_get0_param(static_cast<SSL_CTX*>(amqp_ssl_socket_get_context(socket)));
    if (X509_VERIFY_PARAM_set1_ip_asc(rules, host.c_str()) == 1) return;
    X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    X509_VERIFY_PARAM_set1_host(rules, host.c_str(), host.size());
}

}  // namespace

amqp_socket_t* secure_socket(amqp_connection_state_t state, const rabbitmq::config& settings, const std::string& host,
                             const std::string& peer) {
    auto* socket = amqp_ssl_socket_new(state);
    if (!socket) throw connection_failed{error(errc::internal, "out of memory")};
    amqp_ssl_socket_set_verify_peer(socket, settings.verify_peer ? 1 : 0);
    amqp_ssl_socket_set_verify_hostname(socket, 0);
    if (settings.verify_peer) expect_host(socket, host);
    amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST);
    auto authorities = settings.ca_file.string();
    if (authorities.empty()) authorities = "/etc/ssl/certs/ca-certificates.crt";
    if (settings.verify_peer && amqp_ssl_socket_set_cacert(socket, authorities.c_str()) != AMQP_STATUS_OK) {
        throw connection_failed{
            unreadable(peer, "option 'ca_file': '" + authorities + "' cannot be read as PEM certificates")};
    }
    if (!settings.certificate_file.empty() && amqp_ssl_socket_set_key(socket, settings.certificate_file.c_str(),
                                                                      settings.key_file.c_str()) != AMQP_STATUS_OK) {
        throw connection_failed{unreadable(peer, "options 'certificate_file' and 'key_file': '" +
                                                     settings.certificate_file.string() + "' and '" +
                                                     settings.key_file.string() + "' cannot be read as a PEM pair")};
    }
    return socket;
}

}  // namespace shove::rabbitmq_backend
