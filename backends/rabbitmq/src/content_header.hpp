#pragma once

#include <amqp.h>
#include <amqp_framing.h>

#include <cstddef>
#include <cstdint>

namespace shove::rabbitmq_backend {

/// Bytes of a frame that are not its payload: type, channel, size, end.
inline constexpr std::size_t frame_overhead = 8;

/// Room for a content header in one frame; it cannot be spread over several.
constexpr std::size_t content_header_room(std::uint32_t frame_max) noexcept {
    return frame_max - frame_overhead;
}

/// Bytes that a content header takes: class, weight, body size, flags and properties.
std::size_t content_header_size(const amqp_basic_properties_t& properties) noexcept;

}  // namespace shove::rabbitmq_backend
