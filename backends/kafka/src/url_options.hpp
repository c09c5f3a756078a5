#pragma once

#include <shove/kafka.hpp>

#include <string_view>

namespace shove::kafka_backend {

/// Enters the options behind the `?` of a URL.
/// @return  `errc::invalid_argument` for the first that is wrong. The detail names the option, and its value unless
/// that
///          may be a secret.
error set_options(kafka::config& into, std::string_view query);

}  // namespace shove::kafka_backend
