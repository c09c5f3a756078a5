#pragma once

#include <shove/headers.hpp>

#include <amqp.h>

#include <span>

#include "outlet.hpp"

namespace shove::rabbitmq_backend {

/// What is written beside a copy, so that who reads it knows.
std::span<const header> notes_of(copy_kind kind) noexcept;

/// Whether a message is a copy of one that was handled: ours says so, the Rust library's has waited in a hold queue.
bool handled_before(const amqp_basic_properties_t& properties) noexcept;

}  // namespace shove::rabbitmq_backend
