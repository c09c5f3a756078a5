#pragma once

#include <amqp.h>
#include <amqp_framing.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shove::rabbitmq_backend {

/// AMQP frames, one behind the other, to be sent at once: rabbitmq-c makes a system call for each. What a method or a
/// header looks like inside is rabbitmq-c's knowledge all the same.
class frame_writer {
public:
    /// @param frame_max  Bytes of a frame, as agreed with the server.
    void limit(std::size_t frame_max) noexcept { frame_max_ = frame_max; }

    /// Adds a method without content. Gives 0, or an error of rabbitmq-c (below 0): then nothing was added.
    int method(amqp_channel_t channel, amqp_method_number_t id, const void* decoded);
    /// Adds a message: its method, its header, its body.
    int message(amqp_channel_t channel, const amqp_basic_publish_t& how, const amqp_basic_properties_t& properties,
                std::span<const std::byte> body);

    std::span<const std::byte> bytes() const noexcept { return {bytes_.data(), used_}; }
    bool empty() const noexcept { return used_ == 0; }
    void clear() noexcept { used_ = 0; }

private:
    std::byte* room(std::size_t more);
    template <class Fill>
    int frame(std::uint8_t type, amqp_channel_t channel, std::size_t most, Fill&& fill);
    int header(amqp_channel_t channel, const amqp_basic_properties_t& properties, std::size_t body);

    std::size_t frame_max_ = 131'072;
    std::vector<std::byte> bytes_;  // never shrinks
    std::size_t used_ = 0;
};

}  // namespace shove::rabbitmq_backend
