#pragma once

#include <amqp.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace shove::bench {

/// A connection of rabbitmq-c and the few calls that a bare loop makes. Whatever fails throws.
/// @par Thread safety  One thread at a time.
class amqp_client {
public:
    /// Connects to `amqp://user:password@host:port/vhost` and opens channels 1 to `channels`.
    explicit amqp_client(std::string url, std::uint16_t channels = 1);

    /// A classic durable queue that dead-letters, as the peer declares it.
    void declare(const std::string& queue);
    void remove(const std::string& queue);
    /// Channel 1 confirms from now on.
    void confirm();
    /// Has channel `channel` be sent deliveries, `prefetch` at a time.
    void consume(std::uint16_t channel, const std::string& queue, std::uint16_t prefetch);

    /// On channel 1, persistent and mandatory, with an id and a time: the message that the backend sends.
    void publish(const std::string& queue, std::string_view body);
    void ack_up_to(std::uint16_t channel, std::uint64_t tag);
    /// Holds small packets back, or sends them.
    void cork(bool on) noexcept;
    /// The next frame; false if none came within that time.
    bool next(amqp_frame_t& into, int patience_ms);
    /// Whether a frame can be had without asking the socket.
    bool has_input() const noexcept;
    /// Frees what a channel's frames pointed to. Not of all channels: for each it would look through what is queued.
    void forget_frames(std::uint16_t channel) noexcept { amqp_maybe_release_buffers_on_channel(state_.get(), channel); }

private:
    struct destroy {
        void operator()(amqp_connection_state_t state) const noexcept { amqp_destroy_connection(state); }
    };
    using handle = std::unique_ptr<std::remove_pointer_t<amqp_connection_state_t>, destroy>;

    void check_answer(const char* doing) const;

    handle state_;
    std::array<char, 37> id_{};
    unsigned long long published_ = 0;
};

}  // namespace shove::bench
