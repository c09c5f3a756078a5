#pragma once

#include <amqp.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "control.hpp"

namespace shove::rabbitmq_backend {

/// Shows all that lies ready in a queue, in order, and leaves it there: it is taken over a channel of its own, which is
/// closed then, so that all goes back to its place. Throws as `connection` does. What `seen` gets is good until it
/// returns.
void look_through(
    ask_channel& over, const std::string& queue,
    const std::function<void(const amqp_basic_properties_t& properties, std::span<const std::byte> body)>& seen);

}  // namespace shove::rabbitmq_backend
