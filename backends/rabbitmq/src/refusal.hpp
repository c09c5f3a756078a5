#pragma once

#include <shove/error.hpp>

#include <amqp.h>

#include <cstdint>
#include <string>

namespace shove::rabbitmq_backend {

/// Why a server closed a channel or a connection.
struct refusal {
    std::uint16_t code = 0;
    std::string text;             ///< The server's words.
    amqp_method_number_t at = 0;  ///< What it would not do; 0: it does not say.
};

/// Reads a `channel.close` or `connection.close`.
refusal refusal_of(const amqp_method_t& method);

/// The code that callers compare: `unknown_queue` for 404, `topology_mismatch` for 406, …
errc code_of(const refusal& why) noexcept;

}  // namespace shove::rabbitmq_backend
