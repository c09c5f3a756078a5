#pragma once

#include <amqp.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "control.hpp"

namespace shove::rabbitmq_backend {

/// What is done while a queue is looked through.
struct look {
    /// Is shown each message, in order; what it gets is good until it returns.
    std::function<void(std::uint64_t tag, const amqp_basic_properties_t& properties, std::span<const std::byte> body)>
        seen;
    /// After the last one: the tags, rising, of those that nobody needs. They are removed.
    std::function<std::vector<std::uint64_t>()> needless;
};

/// Looks through all that lies in a classic queue and is in nobody's hands. One at a time does: others wait. The queue
/// is read over a channel of its own, which is closed then, so that all goes back to its place. Throws as `connection`
/// does.
void look_through(ask_channel& over, const std::string& queue, const look& how);

}  // namespace shove::rabbitmq_backend
