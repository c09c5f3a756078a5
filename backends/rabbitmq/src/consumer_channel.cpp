#include "consumer.hpp"

#include <amqp.h>

#include <algorithm>
#include <utility>

#include "control.hpp"

// How a consumer gets its channel, and how it loses it. On the connection's thread.
namespace shove::rabbitmq_backend {
namespace {

constexpr std::chrono::milliseconds first_retry{100};
constexpr std::chrono::milliseconds longest_retry{5'000};

}  // namespace

void consumer::attach(connection& on) {
    channel_ = on.open_channel();
    try {
        if (plan_.transactional) select_transactions(on);
        consume(on);
    } catch (const channel_failed&) {
        channel_ = 0;
        throw;
    }
    on.forget_frames(channel_);
    window_.clear();
    times_.clear();
    refusals_ = 0;
    cancelled_ = false;
    returning_ = false;
    started done;
    {
        const std::lock_guard lock(mutex_);
        if (epoch_++ > 0) calm_at_ = std::chrono::steady_clock::now() + grace_after_cut;
        attached_ = true;
        done = std::exchange(started_, nullptr);
    }
    if (done) done({});
}

void consumer::consume(connection& on) {
    if (!plan_.fanout.empty()) declare_own_queue(on);
    amqp_basic_qos_t qos{};
    qos.prefetch_count = plan_.prefetch;
    on.call<amqp_basic_qos_ok_t>(channel_, AMQP_BASIC_QOS_METHOD, &qos, AMQP_BASIC_QOS_OK_METHOD);
    resume(on);
}

void consumer::resume(connection& on) {
    amqp_basic_consume_t consume{};
    consume.queue = bytes_of(plan_.queue);  // of a broadcast: empty, the last one declared here
    consume.consumer_tag = bytes_of(plan_.name);
    const auto& ok =
        on.call<amqp_basic_consume_ok_t>(channel_, AMQP_BASIC_CONSUME_METHOD, &consume, AMQP_BASIC_CONSUME_OK_METHOD);
    tag_.assign(text_of(ok.consumer_tag));
    consuming_ = true;
}

void consumer::pause(connection& on) {
    amqp_basic_cancel_t cancel{};
    cancel.consumer_tag = bytes_of(tag_);
    on.call<amqp_basic_cancel_ok_t>(channel_, AMQP_BASIC_CANCEL_METHOD, &cancel, AMQP_BASIC_CANCEL_OK_METHOD);
    consuming_ = false;
}

/// The queue of a subscription to a broadcast: goes with the connection.
void consumer::declare_own_queue(connection& on) {
    amqp_queue_declare_t declare{};
    declare.exclusive = 1;
    declare.auto_delete = 1;
    on.call<amqp_queue_declare_ok_t>(channel_, AMQP_QUEUE_DECLARE_METHOD, &declare, AMQP_QUEUE_DECLARE_OK_METHOD);
    amqp_queue_bind_t bind{};
    bind.exchange = bytes_of(plan_.fanout);
    on.call<amqp_queue_bind_ok_t>(channel_, AMQP_QUEUE_BIND_METHOD, &bind, AMQP_QUEUE_BIND_OK_METHOD);
}

void consumer::lost(const error& why, amqp_method_number_t at) {
    channel_ = 0;
    consuming_ = false;
    giving_way_ = false;
    due_ = steady_time::max();
    awaited_.clear();
    moved_.clear();
    receive_done waiting;
    std::vector<std::string> in_hand;
    auto unsent = transaction_.lost();
    std::shared_ptr<shard_ledger> book;
    std::vector<spi::delivery> withheld;
    farewell returning;
    error told = why;
    {
        const std::lock_guard lock(mutex_);
        std::ranges::move(ops_, std::back_inserter(unsent));
        ops_.clear();
        if (plan_.notes) returning = lost_ones(unsent);
        std::erase_if(marks_,
                      [this](const auto& one) { return one.first >> 40U == epoch_ && !handed_.contains(one.first); });
        ++epoch_;
        attached_ = false;
        arrived_.clear();
        doubts_.clear();
        taking_.clear();
        judged_.clear();
        suspects_.clear();
        known_again_.clear();
        withheld.swap(withheld_);
        withheld_keys_.clear();
        book = std::exchange(ledger_, nullptr);
        ++ledgers_;
        if (std::exchange(open_, false)) told = error(errc::lease_lost, why.message());
        broken_ = false;
        ready_.clear();
        for (const auto& [tag, msg] : handed_) {
            const auto mark = marks_.find(tag);
            if (!plan_.shard) in_hand.push_back(name_of_copy(msg.id(), mark == marks_.end() ? 0 : mark->second));
        }
        handed_.clear();
        committing_ = 0;
        waiting = std::exchange(receiving_, nullptr);
        if (!waiting && !leaving_) failure_ = told;
    }
    if (book) book->abandon(std::move(withheld));
    if (!returning.empty()) say_lost(returning);
    if (plan_.lost) {
        for (auto& name : in_hand)
            plan_.lost->lost(std::move(name));
    }
    const auto refuses_copies = {AMQP_QUEUE_DECLARE_METHOD, AMQP_BASIC_PUBLISH_METHOD, AMQP_TX_COMMIT_METHOD};
    if (std::ranges::find(refuses_copies, at) != refuses_copies.end()) keep_copies_apart();
    give_up(std::move(unsent));
    if (waiting) waiting(told);
}

void consumer::unreachable(const error& why) {
    started done;
    {
        const std::lock_guard lock(mutex_);
        done = std::exchange(started_, nullptr);
        if (done) leaving_ = true;
    }
    if (done) done(why);
}

std::optional<steady_time> consumer::refused(const error& why) {
    started done;
    receive_done waiting;
    {
        const std::lock_guard lock(mutex_);
        done = std::exchange(started_, nullptr);
        if (done) {
            leaving_ = true;
        } else if (refusals_ == 0) {
            waiting = std::exchange(receiving_, nullptr);
        }
    }
    if (done) {
        done(why);
        return std::nullopt;
    }
    if (waiting) waiting(why);
    if (plan_.repair) plan_.repair();
    const auto pause = std::min(longest_retry, first_retry * (1 << std::min(refusals_++, 6U)));
    return std::chrono::steady_clock::now() + pause;
}

void consumer::detach(connection* on) {
    if (on && channel_ != 0) {
        try {
            // No more deliveries; then what was decided, then the channel: what is left returns to the queue.
            if (consuming_) pause(*on);
            if (!plan_.transactional) send_ops(*on);
            on->close_channel(channel_);
        } catch (const channel_failed&) {  // it is gone already
        }
        channel_ = 0;
    }
    spi::callback<void(error)> done;
    started never;
    receive_done waiting;
    std::shared_ptr<shard_ledger> book;
    auto unsent = transaction_.lost();
    {
        const std::lock_guard lock(mutex_);
        std::ranges::move(ops_, std::back_inserter(unsent));
        ops_.clear();
        committing_ = 0;
        leaving_ = true;
        book = std::exchange(ledger_, nullptr);
        open_ = false;
        ++ledgers_;
        ++epoch_;
        ready_.clear();
        handed_.clear();
        doubts_.clear();
        taking_.clear();
        judged_.clear();
        withheld_.clear();
        done = std::exchange(left_, nullptr);
        never = std::exchange(started_, nullptr);
        waiting = std::exchange(receiving_, nullptr);
    }
    if (book) book->leave(false, {}, [] {});
    give_up(std::move(unsent));
    if (never) never(closed_error());
    if (waiting) waiting(closed_error());
    if (done) done({});
}

}  // namespace shove::rabbitmq_backend
