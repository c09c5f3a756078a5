#pragma once

#include <shove/headers.hpp>

#include <amqp.h>

namespace shove::rabbitmq_backend {

/// Written beside the copy of a message that may have been handled.
headers handled_before_note();

/// Whether a message is a copy of one that was handled: ours says so, the Rust library's has waited in a hold queue.
bool handled_before(const amqp_basic_properties_t& properties) noexcept;

}  // namespace shove::rabbitmq_backend
