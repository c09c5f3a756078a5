#pragma once

#include <shove/kafka.hpp>

#include <string>

namespace shove::kafka_backend {

/// The first rule that the settings break: a value out of its range, options that exclude each other, a property that
/// librdkafka does not know, credentials that would cross a network unencrypted. The detail names option, value and
/// remedy, never a secret.
error check_config(const kafka::config& settings);

/// The settings for people, on one line: everything but secrets.
std::string redacted(const kafka::config& settings);

/// `host:9092,other:9092`.
std::string servers_text(const kafka::config& settings);

}  // namespace shove::kafka_backend
