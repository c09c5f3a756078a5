#pragma once

#include <shove/rabbitmq.hpp>

#include <string_view>

namespace shove::rabbitmq_backend {

/// Enters the options behind the `?` of a URL, `name=value&name=value`, each value percent-decoded.
/// @return  `errc::invalid_argument` for the first that is wrong. The detail names the option, and its value unless
/// that
///          may be a secret.
error set_options(rabbitmq::config& into, std::string_view query);

}  // namespace shove::rabbitmq_backend
