#pragma once

#include <shove/rabbitmq.hpp>

#include <string>

namespace shove::rabbitmq_backend {

/// The first rule that the settings break: a value out of its range, options that exclude each other, credentials that
/// would cross a network unencrypted. The detail names option, value and remedy, never a password.
error check_config(const rabbitmq::config& settings);

/// The settings for people, on one line: everything but passwords.
std::string redacted(const rabbitmq::config& settings);

}  // namespace shove::rabbitmq_backend
