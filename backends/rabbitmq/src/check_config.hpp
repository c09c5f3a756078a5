#pragma once

#include <shove/rabbitmq.hpp>

#include <string>
#include <string_view>

namespace shove::rabbitmq_backend {

/// The first rule that the settings break: a value out of its range, options that exclude each other, credentials that
/// would cross a network unencrypted. The detail names option, value and remedy, never a password.
error check_config(const rabbitmq::config& settings);

/// True of `localhost`, 127.0.0.0/8, ::1 and ::ffff:127.0.0.0/104: what is sent there does not leave this machine.
bool is_loopback(std::string_view host);

/// The settings for people, on one line: everything but passwords.
std::string redacted(const rabbitmq::config& settings);

}  // namespace shove::rabbitmq_backend
