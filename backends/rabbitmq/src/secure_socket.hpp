#pragma once

#include <shove/rabbitmq.hpp>

#include <amqp.h>

#include <string>

namespace shove::rabbitmq_backend {

/// A socket for TLS, as the settings want it, that is not open yet. It belongs to `state`.
/// Throws `connection_failed` for files that cannot be read.
/// @param host  What the server's certificate must be made out to: a name or an IP address.
/// @param peer  For errors.
amqp_socket_t* secure_socket(amqp_connection_state_t state, const rabbitmq::config& settings, const std::string& host,
                             const std::string& peer);

}  // namespace shove::rabbitmq_backend
