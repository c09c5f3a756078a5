#include "peek.hpp"

#include <poll.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "refusal.hpp"

namespace shove::rabbitmq_backend {
namespace {

/// Asked for at once. A consumer's limit is a 16-bit number; smaller blocks keep the server's answers short.
constexpr std::size_t largest_block = 1'000;
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

peek::peek(ask_channel& over, std::string queue)
    : over_(over), queue_(std::move(queue)), life_(over.life()), channel_(over.on().open_channel()) {}

peek::~peek() {
    if (!alive()) return;
    try {
        over_.on().close_channel(channel_);
    } catch (const connection_failed&) {  // then it is closed, too; whoever asks next learns of it
    } catch (const channel_failed&) {
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
        if (now - last > hopeless ||
            (now - std::exchange(asked, now - asked > doubt ? now : asked) > doubt && ask().ready == 0))
            break;
        wait_readable(on.descriptor(), doubt);
    }
    end();
    while (on.next(frame))  // what was on its way
        if (take(frame, see)) ++got;
    if (window_.next() > 1) blocks_.push_back(window_.next() - 1);
    if (deleted_) throw channel_failed{error(errc::unknown_queue, "queue '" + queue_ + "' was deleted"), 0};
    return got;
}

void peek::begin(std::size_t want) {
    auto& on = over_.on();
    amqp_basic_qos_t qos{};
    qos.prefetch_count = static_cast<std::uint16_t>(want);
    on.call<amqp_basic_qos_ok_t>(channel_, AMQP_BASIC_QOS_METHOD, &qos, AMQP_BASIC_QOS_OK_METHOD);
    // For people; and quorum queues give back what a dead process had in the order of these names, if there are few.
    auto number = std::to_string(blocks_.size());
    consumer_ = "shove-look-" + std::string(8 - std::min<std::size_t>(number.size(), 8), '0') + number;
    amqp_basic_consume_t consume{};
    consume.queue = bytes_of(queue_);
    consume.consumer_tag = bytes_of(consumer_);
    on.call<amqp_basic_consume_ok_t>(channel_, AMQP_BASIC_CONSUME_METHOD, &consume, AMQP_BASIC_CONSUME_OK_METHOD);
}

/// No more messages come; those that came stay in hand.
void peek::end() {
    if (deleted_) return;
    amqp_basic_cancel_t cancel{};
    cancel.consumer_tag = bytes_of(consumer_);
    over_.on().call<amqp_basic_cancel_ok_t>(channel_, AMQP_BASIC_CANCEL_METHOD, &cancel, AMQP_BASIC_CANCEL_OK_METHOD);
}

bool peek::take(amqp_frame_t& what, const visitor& see) {
    auto& on = over_.on();
    if (what.channel != channel_) {
        if (what.channel == 0) return false;
        if (what.frame_type == AMQP_FRAME_METHOD && what.payload.method.id == AMQP_CHANNEL_CLOSE_METHOD) {
            on.channel_gone(what.channel);
            if (over_.is(what.channel)) over_.gone();
        }
        on.forget_frames(what.channel);
        return false;
    }
    if (what.frame_type == AMQP_FRAME_METHOD) return take_method(what.payload.method);
    const bool whole = what.frame_type == AMQP_FRAME_HEADER ? parts_.header(what) : parts_.body(what);
    if (!whole) return false;
    see_message(see);
    on.forget_frames(channel_);
    return true;
}

bool peek::take_method(const amqp_method_t& method) {
    auto& on = over_.on();
    if (method.id == AMQP_BASIC_DELIVER_METHOD) {
        const auto& told = *static_cast<const amqp_basic_deliver_t*>(method.decoded);
        arriving_.tag = told.delivery_tag;
        arriving_.redelivered = told.redelivered != 0;
        arriving_.exchange.assign(text_of(told.exchange));
        arriving_.routing_key.assign(text_of(told.routing_key));
        return false;  // its header follows
    }
    if (method.id == AMQP_BASIC_CANCEL_METHOD) deleted_ = true;
    if (method.id == AMQP_CHANNEL_CLOSE_METHOD) {
        const auto why = refusal_of(method);
        on.channel_gone(std::exchange(channel_, amqp_channel_t{0}));
        throw channel_failed{error(code_of(why), "RabbitMQ refuses: " + why.text), why.code};
    }
    on.forget_frames(channel_);
    return false;
}

void peek::see_message(const visitor& see) {
    window_.add();
    const auto parts = parts_.take();
    in_line_ = arriving_.redelivered && was_in_line(*parts.properties);
    see({arriving_.tag, arriving_.exchange, arriving_.routing_key, *parts.properties, parts.body});
    arriving_.tag = 0;
}

queue_count peek::ask() {
    amqp_queue_declare_t method{};
    method.queue = bytes_of(queue_);
    method.passive = 1;
    try {
        const auto& ok = over_.on().call<amqp_queue_declare_ok_t>(channel_, AMQP_QUEUE_DECLARE_METHOD, &method,
                                                                  AMQP_QUEUE_DECLARE_OK_METHOD);
        const queue_count told{ok.message_count, ok.consumer_count};
        if (arriving_.tag == 0) over_.on().forget_frames(channel_);  // else it would take half a message along
        return told;
    } catch (const channel_failed&) {
        channel_ = 0;
        throw;
    }
}

bool peek::drop(std::uint64_t tag) {
    if (!window_.is_open(tag)) return false;
    window_.ack(tag);
    return true;
}

void peek::flush() {
    auto& on = over_.on();
    {
        const corked packets(on);
        for (const auto& ack : window_.take_frames())
            on.ack(channel_, ack.tag, ack.multiple);
    }
    (void)ask();  // answered in order: it has come to the acknowledgements
}

void peek::give_back() {
    if (!alive()) return;
    for (std::size_t more = 0; in_line_ && more < longest_line;) {
        const auto got = read(largest_block, [](const auto&) {});
        more += got;
        if (got == 0) break;
    }
    flush();
    wait_requeued(requeue_blocks());
    over_.on().close_channel(std::exchange(channel_, amqp_channel_t{0}));
}

/// In order, and each consumer's messages by themselves: a quorum queue keeps the order of just those.
std::size_t peek::requeue_blocks() {
    const auto count = window_.open();
    std::uint64_t first = 1;
    for (const auto last : blocks_) {
        auto tag = last;
        while (tag >= first && !window_.is_open(tag))
            --tag;
        if (tag >= first) over_.on().requeue(channel_, tag, true);
        first = last + 1;
    }
    return count;
}

/// A quorum queue does it a little later. Whoever counts next is to find them all.
void peek::wait_requeued(std::size_t count) {
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
        const auto told = ask();
        const auto most = told.consumers > 0 ? shared_requeue_patience : requeue_patience;
        if (told.ready >= count || std::chrono::steady_clock::now() - begin > most) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

}  // namespace shove::rabbitmq_backend
