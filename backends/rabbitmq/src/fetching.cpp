#include "fetching.hpp"

#include "assembler.hpp"

namespace shove::rabbitmq_backend {
namespace {

constexpr std::chrono::seconds patience{10};

/// Waits for the next frame of a channel; others' are dropped: on the control connection nobody waits for them.
amqp_frame_t next_frame(connection& on, amqp_channel_t channel) {
    const auto until = std::chrono::steady_clock::now() + patience;
    amqp_frame_t frame{};
    for (;;) {
        if (!on.wait_next(frame, until)) {
            throw connection_failed{error(errc::connection_lost, "RabbitMQ sent half of a message, and no more")};
        }
        if (frame.channel == channel) return frame;
        on.forget_frames(frame.channel);
    }
}

/// False: the queue is empty.
bool fetch_one(connection& on, amqp_channel_t channel, const std::string& queue, assembler& into) {
    amqp_basic_get_t get{};
    get.queue = bytes_of(queue);
    const auto answer =
        on.call_either(channel, AMQP_BASIC_GET_METHOD, &get, AMQP_BASIC_GET_OK_METHOD, AMQP_BASIC_GET_EMPTY_METHOD);
    if (answer.id == AMQP_BASIC_GET_EMPTY_METHOD) return false;
    for (;;) {
        const auto frame = next_frame(on, channel);
        if (frame.frame_type == AMQP_FRAME_HEADER && into.header(frame)) return true;
        if (frame.frame_type == AMQP_FRAME_BODY && into.body(frame)) return true;
    }
}

}  // namespace

void look_through(
    ask_channel& over, const std::string& queue,
    const std::function<void(const amqp_basic_properties_t& properties, std::span<const std::byte> body)>& seen) {
    ask_channel own(over.on());
    assembler parts;
    const auto channel = own.number();
    while (fetch_one(over.on(), channel, queue, parts)) {
        const auto whole = parts.take();
        seen(*whole.properties, whole.body);
        over.on().forget_frames(channel);
    }
    own.close();
}

}  // namespace shove::rabbitmq_backend
