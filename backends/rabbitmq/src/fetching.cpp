#include "fetching.hpp"

#include <algorithm>
#include <random>
#include <thread>

#include "assembler.hpp"
#include "layout.hpp"

namespace shove::rabbitmq_backend {
namespace {

constexpr std::chrono::seconds patience{5};
/// Others who look through the queue take about so long.
constexpr std::chrono::milliseconds shortest_turn{2};
constexpr std::chrono::milliseconds longest_turn{20};

/// Becomes the queue's only consumer. False: somebody else is.
bool consume_alone(connection& on, ask_channel& own, const std::string& queue) {
    amqp_basic_consume_t consume{};
    consume.queue = bytes_of(queue);
    consume.exclusive = 1;
    try {
        on.call<amqp_basic_consume_ok_t>(own.number(), AMQP_BASIC_CONSUME_METHOD, &consume,
                                         AMQP_BASIC_CONSUME_OK_METHOD);
        return true;
    } catch (const channel_failed& failed) {
        own.gone();
        if (failed.code == AMQP_ACCESS_REFUSED && failed.cause.message().find("exclusive") != std::string::npos)
            return false;
        throw;
    }
}

void await_turn(connection& on, ask_channel& own, const std::string& queue, steady_time until) {
    std::minstd_rand random(std::random_device{}());
    std::uniform_int_distribution<std::int64_t> pause(shortest_turn.count(), longest_turn.count());
    while (!consume_alone(on, own, queue)) {
        if (std::chrono::steady_clock::now() >= until) {
            throw channel_failed{error(errc::storage_busy, "queue '" + queue + "' is being looked through by others"),
                                 0};
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(pause(random)));
    }
}

/// Reads what a queue pushes over a channel.
class reader {
public:
    reader(connection& on, amqp_channel_t channel, const look& how) noexcept : on_(on), channel_(channel), how_(how) {}

    std::size_t count() const noexcept { return count_; }
    /// Until there are so many, or it takes too long. They may lie here already.
    void read(std::size_t count, steady_time until) {
        amqp_frame_t frame{};
        while (count_ < count && on_.wait_next(frame, until))
            take(frame);
    }
    /// What has arrived.
    void read_rest() {
        amqp_frame_t frame{};
        while (on_.next(frame))
            take(frame);
    }

private:
    void take(const amqp_frame_t& frame) {
        const bool mine = frame.channel == channel_;
        if (mine && frame.frame_type == AMQP_FRAME_METHOD && frame.payload.method.id == AMQP_BASIC_DELIVER_METHOD) {
            tag_ = static_cast<const amqp_basic_deliver_t*>(frame.payload.method.decoded)->delivery_tag;
            return;  // its header follows
        }
        bool whole = !mine;
        if (mine && frame.frame_type == AMQP_FRAME_HEADER) whole = parts_.header(frame);
        if (mine && frame.frame_type == AMQP_FRAME_BODY) whole = parts_.body(frame);
        if (mine && whole) {
            const auto made = parts_.take();
            how_.seen(tag_, *made.properties, made.body);
            ++count_;
        }
        if (whole) on_.forget_frames(frame.channel);
    }

    connection& on_;
    const amqp_channel_t channel_;
    const look& how_;
    assembler parts_;
    std::uint64_t tag_ = 0;
    std::size_t count_ = 0;
};

/// The queue sends in portions, and what is on its way is in no count. But an answer comes behind what was sent before
/// it: where the queue has nothing left, all of it has arrived with the answer after that.
void read_all(ask_channel& own, reader& from, const std::string& queue, steady_time until) {
    while (const auto left = count_ready(own, queue).value_or(0)) {
        from.read(from.count() + left, until);
        if (std::chrono::steady_clock::now() >= until) break;
    }
    (void)count_ready(own, queue);
    from.read_rest();
}

}  // namespace

void look_through(ask_channel& over, const std::string& queue, const look& how) {
    if (!count(over, queue)) return;
    const auto until = std::chrono::steady_clock::now() + patience;
    auto& on = over.on();
    ask_channel own(on);
    await_turn(on, own, queue, until);
    reader from(on, own.number(), how);
    read_all(own, from, queue, until);
    for (const auto tag : how.needless())
        on.ack(own.number(), tag, false);
    own.close();
}

}  // namespace shove::rabbitmq_backend
