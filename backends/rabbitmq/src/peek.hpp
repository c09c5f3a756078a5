#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ack_window.hpp"
#include "assembler.hpp"
#include "control.hpp"
#include "layout.hpp"

namespace shove::rabbitmq_backend {

/// A message of a queue that is looked at. Everything points into the connection's buffers, until the visit ends.
struct glimpse {
    std::uint64_t tag = 0;  ///< Names it in this peek.
    std::string_view exchange;
    std::string_view routing_key;
    const amqp_basic_properties_t& properties;
    std::span<const std::byte> body;
};

/// Looks at the waiting messages of a queue, from its head on. AMQP has no other way than to take them and to give them
/// back, so:
///  - while they are looked at nobody else gets them; other processes count them as in flight;
///  - those that are given back are marked `redelivered` by the broker, and a quorum queue counts it as a delivery: one
///    with `x-delivery-limit` (ours have none; from RabbitMQ 4.0 on others have 20 by default) drops or dead-letters a
///    message that was looked at as often;
///  - if this process dies meanwhile, a quorum queue gets them back block by block, in no order of the blocks.
///
/// A classic queue puts each message back into its own place. A quorum queue does not, and needs care:
///  - what comes by `basic.get` goes back in no order at all; what comes to a consumer, in its order, so consumers it
///  is;
///  - what is given back by `basic.nack` goes to the end of the queue; what had a channel that is closed, to its front.
///  So
///    each block of messages has a channel, and these are closed one after another;
///  - what came back to the front stands in a line of its own, and what comes back later behind that. So all of that
///  line
///    must be in hand before any of it is given back, or it would be turned round.
/// @par Thread safety  The connection's thread only. All may throw as `connection` does; then the peek is over.
class peek {
public:
    using visitor = std::function<void(const glimpse&)>;

    peek(ask_channel& over, std::string queue);
    peek(const peek&) = delete;
    peek& operator=(const peek&) = delete;
    /// Without `give_back`: its channels are closed.
    ~peek();

    /// Whether all that was looked at is still held.
    bool alive() const noexcept { return !life_.expired() && !lost_; }
    /// Looks at up to `max` further messages. Gives how many there were; less than `max`: at the end of the queue.
    std::size_t read(std::size_t max, const visitor& see);
    /// Takes one out of the queue for good, with the next `flush`. False: it is none of those that are held.
    bool drop(std::uint64_t tag);
    /// Carries `drop` out: the server has heard of it when this returns.
    void flush();
    /// Gives everything back to its place.
    void give_back();

private:
    /// Messages that came over one channel.
    struct block {
        amqp_channel_t channel = 0;
        ack_window window;
        bool dropped = false;  ///< Something of it is to be acknowledged.
    };
    struct delivered {
        std::uint64_t tag = 0;  ///< 0: none is arriving.
        bool redelivered = false;
        std::string exchange;
        std::string routing_key;
    };
    std::size_t read_block(std::size_t want, const visitor& see);
    void begin(std::size_t want);
    void end();
    /// Handles a frame. True: a message is whole, and was seen.
    bool take(amqp_frame_t& what, const visitor& see);
    bool take_method(const amqp_method_t& method);
    void see_message(const visitor& see);
    queue_count ask();
    void send_drops(block& of);
    void wait_ready(std::size_t count);

    ask_channel& over_;
    const std::string queue_;
    const std::weak_ptr<const int> life_;
    std::deque<block> blocks_;
    assembler parts_;
    delivered arriving_;
    std::string consumer_;  ///< The tag of the one that is on.
    bool in_line_ = false;  ///< The last one had been given back to a quorum queue before.
    bool deleted_ = false;
    bool lost_ = false;  ///< The server has closed a channel of ours.
};

}  // namespace shove::rabbitmq_backend
