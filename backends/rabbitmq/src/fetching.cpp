#include "fetching.hpp"

#include <thread>

#include "assembler.hpp"
#include "layout.hpp"

namespace shove::rabbitmq_backend {
namespace {

constexpr std::chrono::seconds patience{5};
/// Whoever else looks through the queue has its messages meanwhile.
constexpr int most_turns = 20;
constexpr std::chrono::milliseconds turn{10};

/// How many messages lie ready; waits for others who look.
std::size_t ready_in(ask_channel& over, const std::string& queue) {
    for (int n = 0;; ++n) {
        const auto told = count(over, queue);
        if (!told) return 0;
        if (told->ready > 0 || told->consumers == 0 || n == most_turns) return told->ready;
        std::this_thread::sleep_for(turn);
    }
}

void consume(connection& on, amqp_channel_t channel, const std::string& queue) {
    amqp_basic_consume_t consume{};
    consume.queue = bytes_of(queue);
    on.call<amqp_basic_consume_ok_t>(channel, AMQP_BASIC_CONSUME_METHOD, &consume, AMQP_BASIC_CONSUME_OK_METHOD);
}

}  // namespace

void look_through(
    ask_channel& over, const std::string& queue,
    const std::function<void(const amqp_basic_properties_t& properties, std::span<const std::byte> body)>& seen) {
    auto left = ready_in(over, queue);
    if (left == 0) return;
    auto& on = over.on();
    ask_channel own(on);
    const auto channel = own.number();
    consume(on, channel, queue);
    assembler parts;
    amqp_frame_t frame{};
    const auto until = std::chrono::steady_clock::now() + patience;
    while (left > 0 && on.wait_next(frame, until)) {
        bool whole = false;
        if (frame.channel == channel && frame.frame_type == AMQP_FRAME_HEADER) whole = parts.header(frame);
        if (frame.channel == channel && frame.frame_type == AMQP_FRAME_BODY) whole = parts.body(frame);
        if (whole) {
            const auto made = parts.take();
            seen(*made.properties, made.body);
            --left;
        }
        const bool unfinished = frame.channel == channel && !whole;
        if (!unfinished) on.forget_frames(frame.channel);
    }
    own.close();
}

}  // namespace shove::rabbitmq_backend
