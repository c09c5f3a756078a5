#pragma once

#include <shove/message.hpp>
#include <shove/spi/delivery.hpp>

#include <amqp.h>
#include <amqp_framing.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace shove::rabbitmq_backend {

/// How a message came.
struct arrival {
    std::string_view exchange;
    std::string_view routing_key;
    /// The exchange whose routing keys are the messages' keys: the hash exchange of a sequenced topology. Empty: none.
    std::string_view key_exchange{};
    bool dead_letter_queue = false;  ///< It was read from a dead-letter queue: it has a death.
};

/// A message and what happened to it before.
struct incoming {
    message msg;
    std::unique_ptr<spi::history> past;  ///< Null: nothing ever happened to it.
};

/// Reads a message from whoever published it. Whatever is in it, this does not fail: what is of another client becomes
/// a header, so that `properties_writer` makes the same of it again; the broker's own notes are left out.
///
/// The key is that of the message itself; else, with `key_exchange`, the routing key with which it came there.
/// @param owner  Keeps the memory of `body` alive: it is not copied then.
incoming read_message(const amqp_basic_properties_t& properties, std::span<const std::byte> body, const arrival& how,
                      std::shared_ptr<const void> owner = nullptr);

}  // namespace shove::rabbitmq_backend
