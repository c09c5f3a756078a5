#include "outlet.hpp"

#include <amqp.h>

#include <algorithm>
#include <utility>

#include "control.hpp"
#include "refusal.hpp"

namespace shove::rabbitmq_backend {
namespace {

/// Bodies sent and not confirmed; beyond that the next one waits, unless it is alone.
constexpr std::size_t max_unconfirmed_bytes = 4 * 1024 * 1024;
/// So many messages are sent before the server's answers are read.
constexpr int messages_at_once = 256;

}  // namespace

outlet::outlet(std::shared_ptr<const rabbitmq::config> settings)
    : settings_(settings), link_(std::move(settings), "publish", *this) {}

outlet::~outlet() {
    shut();
}

void outlet::post(shipment what) {
    if (what.parcels.empty()) return what.done({});
    auto made = std::make_shared<under_way>();
    made->open = what.parcels.size();
    made->what = std::move(what);
    bool refused = false;
    {
        const std::lock_guard lock(mutex_);
        refused = shut_;
        if (!refused) {
            arrived_.push_back(made);
            started_ = true;
        }
    }
    if (refused) {
        std::vector<spi::publish_result> all(made->open, {spi::publish_status::failed, closed_error()});
        return made->what.done(std::move(all));
    }
    link_.start();
    link_.wake();
}

void outlet::shut() {
    {
        const std::lock_guard lock(mutex_);
        if (shut_) return;
        shut_ = true;
        if (!started_) return link_.stop();
    }
    link_.wake();  // what arrived gets its answer first
}

void outlet::connected(connection& on) {
    channel_ = on.open_channel();
    amqp_confirm_select_t select{};
    on.call<amqp_confirm_select_ok_t>(channel_, AMQP_CONFIRM_SELECT_METHOD, &select, AMQP_CONFIRM_SELECT_OK_METHOD);
    on.forget_frames(channel_);
    first_tag_ = 1;
    blocked_.clear();
}

void outlet::frame(connection& on, amqp_frame_t& what) {
    if (what.frame_type == AMQP_FRAME_HEADER) {
        returned_left_ = static_cast<std::size_t>(what.payload.properties.body_size);
        mark_returned(*static_cast<const amqp_basic_properties_t*>(what.payload.properties.decoded));
        if (returned_left_ == 0) on.forget_frames(what.channel);
        return;
    }
    if (what.frame_type == AMQP_FRAME_BODY) {
        returned_left_ -= std::min(returned_left_, what.payload.body_fragment.len);
        if (returned_left_ == 0) on.forget_frames(what.channel);
        return;
    }
    const auto& method = what.payload.method;
    if (method.id == AMQP_BASIC_ACK_METHOD) {
        const auto& told = *static_cast<const amqp_basic_ack_t*>(method.decoded);
        confirm(told.delivery_tag, told.multiple != 0, true);
    } else if (method.id == AMQP_BASIC_NACK_METHOD) {
        const auto& told = *static_cast<const amqp_basic_nack_t*>(method.decoded);
        confirm(told.delivery_tag, told.multiple != 0, false);
    } else if (method.id == AMQP_BASIC_RETURN_METHOD) {
        begin_return(*static_cast<const amqp_basic_return_t*>(method.decoded));
        return;  // its header follows
    } else if (method.id == AMQP_CHANNEL_CLOSE_METHOD) {
        const auto why = refusal_of(method);
        on.channel_gone(what.channel);
        channel_lost(error(errc::connection_lost, "RabbitMQ closed the channel of the publishers: " + why.text));
        return connected(on);
    }
    on.forget_frames(what.channel);
}

void outlet::work(connection& on) {
    take_new();
    send_some(on);
    if (!queue_.empty() && !room_for(queue_.front()->what.parcels[queue_.front()->sent])) expire(late_error(), false);
    const std::lock_guard lock(mutex_);
    if (shut_ && arrived_.empty() && queue_.empty() && unconfirmed_.empty()) link_.stop();
}

void outlet::take_new() {
    const std::lock_guard lock(mutex_);
    std::ranges::move(arrived_, std::back_inserter(queue_));
    arrived_.clear();
}

bool outlet::room_for(const parcel& next) const noexcept {
    if (!blocked_.empty()) return false;
    if (unconfirmed_.empty()) return true;
    return unconfirmed_.size() < settings_->max_unconfirmed &&
           unconfirmed_bytes_ + next.msg.payload().size() <= max_unconfirmed_bytes;
}

void outlet::send_some(connection& on) {
    if (queue_.empty() || !room_for(queue_.front()->what.parcels[queue_.front()->sent])) return;
    const corked packets(on);
    for (int n = 0; n < messages_at_once && !queue_.empty(); ++n) {
        const auto of = queue_.front();
        if (!room_for(of->what.parcels[of->sent])) return;
        const auto index = of->sent++;
        if (of->sent == of->what.parcels.size()) queue_.pop_front();
        send(on, of, index);
    }
    if (!queue_.empty()) link_.wake();  // more of it after what the server says meanwhile
}

bool outlet::send(connection& on, const std::shared_ptr<under_way>& of, std::size_t index) {
    const auto& what = of->what.parcels[index];
    notes_.assign(what.notes.begin(), what.notes.end());
    const auto properties =
        writer_.write(what.msg, what.past, {.room = on.header_room(), .user = settings_->user, .notes = notes_});
    if (!properties) {
        give_fate(*of, index, spi::publish_status::failed, properties.error());
        return false;
    }
    const auto& to = *what.to;
    const auto key = to.by_key ? what.msg.key().value_or("") : std::string_view(to.routing_key);
    unconfirmed_.push_back({of, index});
    unconfirmed_bytes_ += what.msg.payload().size();
    on.publish(channel_, to.exchange, key, to.mandatory, **properties, what.msg.payload());
    return true;
}

void outlet::confirm(std::uint64_t tag, bool multiple, bool positive) {
    if (tag < first_tag_ || tag - first_tag_ >= unconfirmed_.size()) return;
    const auto last = static_cast<std::size_t>(tag - first_tag_);
    for (auto i = multiple ? std::size_t{0} : last; i <= last; ++i) {
        auto& what = unconfirmed_[i];
        if (what.settled) continue;
        if (!positive) {
            settle(what, spi::publish_status::failed,
                   error(errc::queue_full,
                         "RabbitMQ refused a message (basic.nack): a queue that takes it is full, or "
                         "the server failed; see its log"));
        } else if (what.returned) {
            settle(what, spi::publish_status::failed,
                   error(errc::unroutable, "RabbitMQ has no queue for a message sent to " + returned_why_));
        } else {
            settle(what, spi::publish_status::ok, {});
        }
    }
    while (!unconfirmed_.empty() && unconfirmed_.front().settled) {
        unconfirmed_.pop_front();
        ++first_tag_;
    }
}

void outlet::settle(awaited& what, spi::publish_status status, const error& cause) {
    what.settled = true;
    unconfirmed_bytes_ -= what.of->what.parcels[what.index].msg.payload().size();
    const auto of = std::exchange(what.of, nullptr);
    give_fate(*of, what.index, status, cause);
}

void outlet::give_fate(under_way& of, std::size_t index, spi::publish_status status, const error& cause) {
    if (status != spi::publish_status::ok) {
        of.results.resize(of.what.parcels.size());
        of.results[index] = {status, cause};
    }
    if (--of.open == 0) of.what.done(std::move(of.results));
}

void outlet::begin_return(const amqp_basic_return_t& told) {
    const auto exchange = std::string(text_of(told.exchange));
    const auto key = std::string(text_of(told.routing_key));
    returned_why_ = exchange.empty() ? "queue '" + key + "'" : "exchange '" + exchange + "'";
    returned_why_ += ": " + std::string(text_of(told.reply_text)) + "; declare the topic, or find out who removed it";
}

/// Finds the message that comes back by its id: the server answers in order, so it is near the front.
void outlet::mark_returned(const amqp_basic_properties_t& properties) {
    const auto id = text_of(properties.message_id);
    id_buffer room;
    for (auto& what : unconfirmed_) {
        if (what.settled || what.returned) continue;
        const auto& sent = what.of->what.parcels[what.index].msg;
        if (sent.id(room) != id) continue;
        what.returned = true;
        return;
    }
}

std::optional<steady_time> outlet::due() const {
    auto earliest = steady_time::max();
    for (const auto& of : queue_)
        earliest = std::min(earliest, of->what.deadline);
    return earliest == steady_time::max() ? std::nullopt : std::optional(earliest);
}

error outlet::late_error() const {
    if (!blocked_.empty()) {
        return {errc::storage_full, "RabbitMQ takes no messages now (connection.blocked): " + blocked_};
    }
    return {errc::queue_full, "RabbitMQ did not confirm earlier messages in time for this one to be sent"};
}

/// Gives up on what was not sent by its deadline, or on all.
void outlet::expire(const error& why, bool all) {
    const auto now = std::chrono::steady_clock::now();
    std::deque<std::shared_ptr<under_way>> late;
    const auto rest =
        std::ranges::stable_partition(queue_, [&](const auto& of) { return !all && of->what.deadline > now; });
    late.assign(rest.begin(), rest.end());
    queue_.erase(rest.begin(), rest.end());
    for (const auto& of : late) {
        const auto from = std::exchange(of->sent, of->what.parcels.size());
        for (auto n = from; n < of->what.parcels.size(); ++n) {
            const bool first = n == from;
            give_fate(*of, n, first ? spi::publish_status::failed : spi::publish_status::not_attempted,
                      first ? why : error(errc::not_attempted));
        }
    }
}

void outlet::blocked(const std::string& reason) {
    blocked_ = reason;
}

/// Whatever was sent and not confirmed may be stored or not.
void outlet::channel_lost(const error& why) {
    auto lost_ones = std::exchange(unconfirmed_, {});
    unconfirmed_bytes_ = 0;
    first_tag_ = 1;
    for (auto& what : lost_ones) {
        if (!what.settled) give_fate(*what.of, what.index, spi::publish_status::unknown, why);
    }
}

void outlet::lost(const error& why) {
    channel_ = 0;
    blocked_.clear();
    channel_lost(why);
    bool over = false;
    {
        const std::lock_guard lock(mutex_);
        over = shut_;
    }
    if (!over) return;
    take_new();
    expire(why, true);
    link_.stop();
}

void outlet::waiting(const error& why) {
    take_new();
    bool over = false;
    {
        const std::lock_guard lock(mutex_);
        over = shut_;
    }
    // What no patience helps with is told at once.
    expire(why, over || !is_retryable(why.code));
    if (over) link_.stop();
}

}  // namespace shove::rabbitmq_backend
