#include "peek.hpp"

#include <poll.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "refusal.hpp"

namespace shove::rabbitmq_backend {
namespace {

/// Asked for at once. Each block needs a channel, of which there are some thousands at most; a consumer's limit is a
/// 16-bit number.
constexpr std::size_t largest_block = 5'000;
constexpr unsigned tag_bits = 32;
/// After such a silence it is asked whether there is anything left.
constexpr std::chrono::milliseconds doubt{100};
/// After such a silence it is given up: the server has messages, but not for us.
constexpr std::chrono::seconds hopeless{2};
/// So many messages more than were asked for are looked at so that a quorum queue keeps its order. Beyond that those
/// behind them come first.
constexpr std::size_t longest_line = 20'000;

/// A queue has its messages back by then; where others consume (the ones of the peek may be counted for a while), they
/// may have taken them by then.
constexpr std::chrono::milliseconds requeue_patience{1'000};
constexpr std::chrono::milliseconds shared_requeue_patience{200};

constexpr std::string_view delivery_count = "x-delivery-count";

void wait_readable(int descriptor, std::chrono::milliseconds most) noexcept {
    pollfd one{descriptor, POLLIN, 0};
    ::poll(&one, 1, static_cast<int>(most.count()));
}

/// A quorum queue counts how often it got a message back.
bool was_in_line(const amqp_basic_properties_t& properties) noexcept {
    if ((properties._flags & AMQP_BASIC_HEADERS_FLAG) == 0) return false;
    for (int i = 0; i < properties.headers.num_entries; ++i) {
        if (text_of(properties.headers.entries[i].key) == delivery_count) return true;
    }
    return false;
}

}  // namespace

peek::peek(ask_channel& over, std::string queue) : over_(over), queue_(std::move(queue)), life_(over.life()) {}

peek::~peek() {
    if (!alive()) return;
    try {
        for (auto& each : blocks_)
            over_.on().close_channel(each.channel);
    } catch (const connection_failed&) {  // then they are closed, too; whoever asks next learns of it
    }
}

std::size_t peek::read(std::size_t max, const visitor& see) {
    std::size_t count = 0;
    while (count < max) {
        const auto there = static_cast<std::size_t>(ask().ready);
        const auto want = std::min({max - count, there, largest_block});
        if (want == 0) break;
        const auto got = read_block(want, see);
        count += got;
        if (got < want) break;
    }
    return count;
}

std::size_t peek::read_block(std::size_t want, const visitor& see) {
    auto& on = over_.on();
    begin(want);
    std::size_t got = 0;
    auto last = std::chrono::steady_clock::now();
    auto asked = last;
    amqp_frame_t frame{};
    while (got < want && !deleted_) {
        const auto now = std::chrono::steady_clock::now();
        if (on.next(frame)) {
            if (take(frame, see)) ++got;
            asked = last = now;
            continue;
        }
        if (now - last > hopeless) break;
        if (now - asked > doubt) {
            if (ask().ready == 0) break;
            asked = now;
        }
        wait_readable(on.descriptor(), doubt);
    }
    if (!deleted_) end();
    while (on.next(frame))  // what was on its way
        if (take(frame, see)) ++got;
    if (deleted_) throw channel_failed{error(errc::unknown_queue, "queue '" + queue_ + "' was deleted"), 0};
    return got;
}

void peek::begin(std::size_t want) {
    auto& on = over_.on();
    auto& now = blocks_.emplace_back();
    try {
        now.channel = on.open_channel();
        amqp_basic_qos_t qos{};
        qos.prefetch_count = static_cast<std::uint16_t>(want);
        on.call<amqp_basic_qos_ok_t>(now.channel, AMQP_BASIC_QOS_METHOD, &qos, AMQP_BASIC_QOS_OK_METHOD);
        consumer_ = "shove-look-" + std::to_string(blocks_.size());
        amqp_basic_consume_t consume{};
        consume.queue = bytes_of(queue_);
        consume.consumer_tag = bytes_of(consumer_);
        on.call<amqp_basic_consume_ok_t>(now.channel, AMQP_BASIC_CONSUME_METHOD, &consume,
                                         AMQP_BASIC_CONSUME_OK_METHOD);
    } catch (const channel_failed&) {
        blocks_.pop_back();
        throw;
    }
}

/// No more messages come; those that came stay in hand.
void peek::end() {
    amqp_basic_cancel_t cancel{};
    cancel.consumer_tag = bytes_of(consumer_);
    over_.on().call<amqp_basic_cancel_ok_t>(blocks_.back().channel, AMQP_BASIC_CANCEL_METHOD, &cancel,
                                            AMQP_BASIC_CANCEL_OK_METHOD);
}

bool peek::take(amqp_frame_t& what, const visitor& see) {
    auto& on = over_.on();
    const auto channel = what.channel;
    if (channel == 0) return false;
    if (what.frame_type == AMQP_FRAME_METHOD && what.payload.method.id == AMQP_CHANNEL_CLOSE_METHOD) {
        const auto why = refusal_of(what.payload.method);
        on.channel_gone(channel);
        if (over_.is(channel)) {
            over_.gone();
            return false;
        }
        lost_ = std::erase_if(blocks_, [&](const auto& each) { return each.channel == channel; }) > 0;
        throw channel_failed{error(code_of(why), "RabbitMQ refuses: " + why.text), why.code};
    }
    if (channel != blocks_.back().channel) {
        on.forget_frames(channel);
        return false;
    }
    if (what.frame_type == AMQP_FRAME_METHOD) return take_method(what.payload.method);
    const bool whole = what.frame_type == AMQP_FRAME_HEADER ? parts_.header(what) : parts_.body(what);
    if (!whole) return false;
    see_message(see);
    on.forget_frames(channel);
    return true;
}

bool peek::take_method(const amqp_method_t& method) {
    if (method.id == AMQP_BASIC_DELIVER_METHOD) {
        const auto& told = *static_cast<const amqp_basic_deliver_t*>(method.decoded);
        arriving_.tag = told.delivery_tag;
        arriving_.redelivered = told.redelivered != 0;
        arriving_.exchange.assign(text_of(told.exchange));
        arriving_.routing_key.assign(text_of(told.routing_key));
        return false;  // its header follows
    }
    if (method.id == AMQP_BASIC_CANCEL_METHOD) deleted_ = true;
    over_.on().forget_frames(blocks_.back().channel);
    return false;
}

void peek::see_message(const visitor& see) {
    blocks_.back().window.add();
    const auto parts = parts_.take();
    in_line_ = arriving_.redelivered && was_in_line(*parts.properties);
    const auto tag = (blocks_.size() - 1) << tag_bits | arriving_.tag;
    see({tag, arriving_.exchange, arriving_.routing_key, *parts.properties, parts.body});
    arriving_.tag = 0;
}

queue_count peek::ask() {
    const auto told = count(over_, queue_);
    if (told) return *told;
    throw channel_failed{error(errc::unknown_queue,
                               "queue '" + queue_ + "' is not on this RabbitMQ virtual host; declare its topic first"),
                         AMQP_NOT_FOUND};
}

bool peek::drop(std::uint64_t tag) {
    const auto at = static_cast<std::size_t>(tag >> tag_bits);
    const auto number = tag & ((std::uint64_t{1} << tag_bits) - 1);
    if (at >= blocks_.size() || !blocks_[at].window.is_open(number)) return false;
    blocks_[at].window.ack(number);
    blocks_[at].dropped = true;
    return true;
}

void peek::flush() {
    for (auto& each : blocks_) {
        if (std::exchange(each.dropped, false)) send_drops(each);
    }
}

void peek::send_drops(block& of) {
    auto& on = over_.on();
    {
        const corked packets(on);
        for (const auto& ack : of.window.take_frames())
            on.ack(of.channel, ack.tag, ack.multiple);
    }
    amqp_basic_qos_t qos{};  // answered in order: by then it has come to the acknowledgements
    qos.prefetch_count = 1;
    on.call<amqp_basic_qos_ok_t>(of.channel, AMQP_BASIC_QOS_METHOD, &qos, AMQP_BASIC_QOS_OK_METHOD);
    on.forget_frames(of.channel);
}

void peek::give_back() {
    if (!alive()) return;
    for (std::size_t more = 0; in_line_ && more < longest_line;) {
        const auto got = read(largest_block, [](const auto&) {});
        more += got;
        if (got == 0) break;
    }
    flush();
    while (!blocks_.empty()) {
        const auto held = blocks_.front().window.open();
        const auto before = held > 0 ? ask().ready : 0;
        over_.on().close_channel(blocks_.front().channel);
        blocks_.pop_front();
        if (held > 0) wait_ready(before + held);
    }
}

/// A quorum queue takes things back a little later. Whoever counts or looks next is to find them all, in their order,
/// and so is the next block.
void peek::wait_ready(std::size_t count) {
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
        const auto told = ask();
        const auto most = told.consumers > 0 ? shared_requeue_patience : requeue_patience;
        if (told.ready >= count || std::chrono::steady_clock::now() - begin > most) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace shove::rabbitmq_backend
