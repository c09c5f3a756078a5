#include "group_core.hpp"

#include <algorithm>
#include <set>

#include "blocking.hpp"
#include "broker_core.hpp"
#include "supported.hpp"

namespace shove::detail {
namespace {

[[noreturn]] void refuse(errc code, const std::string& text) {
    throw exception(error(code, text));
}

void check(const consumer_options& options, const std::string& queue) {
    const auto at = " of the consumers of '" + queue + "'";
    if (options.prefetch == 0) refuse(errc::invalid_argument, "prefetch" + at + " is 0; it must be at least 1");
    if (options.prefetch > 1'000'000) {
        refuse(errc::invalid_argument,
               "prefetch" + at + " is " + std::to_string(options.prefetch) + "; it must be at most 1,000,000");
    }
    if (options.consumers.min == 0 || options.consumers.min > options.consumers.max) {
        refuse(errc::invalid_argument, "the number" + at + " is " + std::to_string(options.consumers.min) + ".." +
                                           std::to_string(options.consumers.max) +
                                           "; the minimum must be at least 1 and at most the maximum");
    }
    if (options.handler_timeout && options.handler_timeout->count() <= 0) {
        refuse(errc::invalid_argument, "handler_timeout" + at + " is " +
                                           std::to_string(options.handler_timeout->count()) +
                                           " ms; it must be positive, or nothing for no limit");
    }
    if (options.timeout_grace.count() < 0) refuse(errc::invalid_argument, "timeout_grace" + at + " is negative");
}

}  // namespace

void group_core::add(std::shared_ptr<const queue_topology> topology, std::shared_ptr<handler_base> handler,
                     consumer_options options, bool dead) {
    if (dead && topology->dead_letter_queue.empty()) {
        refuse(errc::invalid_topology,
               "topic '" + topology->queue + "' has no dead-letter queue to consume; give it dlq()");
    }
    if (auto lacking = check_supported(*topology, broker_->capabilities())) throw exception(std::move(lacking));
    consumer_plan plan{std::move(topology), dead, std::move(options), std::move(handler), {}};
    check(plan.options, plan.queue());
    std::lock_guard lock(mutex_);
    if (phase_ != phase::idle) refuse(errc::invalid_argument, "add() after start(); make another group");
    if (std::ranges::any_of(plans_, [&](const auto& p) { return p.queue() == plan.queue(); })) {
        refuse(errc::invalid_argument, "queue '" + plan.queue() + "' is registered in this group already");
    }
    plans_.push_back(std::move(plan));
}

bool group_core::started() const {
    std::lock_guard lock(mutex_);
    return phase_ != phase::idle;
}

void group_core::declare_all() {
    for (const auto& plan : plans_) {
        const auto failed =
            wait_for<error>([&](auto done) { broker_->driver().declare(plan.topology, std::move(done)); });
        if (failed) throw exception(failed);
    }
}

void group_core::start() {
    {
        std::lock_guard lock(mutex_);
        if (phase_ != phase::idle) refuse(errc::invalid_argument, "start() of a group that was started already");
        if (broker_->closed()) refuse(errc::closed, "start() of a group whose broker is closed");
        phase_ = phase::running;
    }
    declare_all();
    std::vector<std::shared_ptr<consumer>> made;
    for (const auto& plan : plans_) {
        const bool sharded = plan.topology->sequencing && !plan.dead;
        const std::uint32_t count = sharded ? plan.topology->sequencing->shards() : plan.options.consumers.min;
        for (std::uint32_t i = 0; i < count; ++i) {
            auto own = plan;
            own.name = plan.queue() + "-" + std::to_string(i);
            if (sharded) own.shard = static_cast<std::uint16_t>(i);
            made.push_back(std::make_shared<consumer>(broker_, std::move(own), [weak = weak_from_this()] {
                if (auto self = weak.lock()) self->notify();
            }));
        }
    }
    {
        std::lock_guard lock(mutex_);
        consumers_ = made;
    }
    broker_->enter(shared_from_this());
    for (const auto& c : made)
        c->start();
    await_subscriptions();
}

/// Waits until each consumer has subscribed once; the first error that cannot be retried ends them all.
void group_core::await_subscriptions() {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] {
            return drain_cut_ || std::ranges::all_of(consumers_, [](const auto& c) { return c->subscribed(); });
        });
    }
    for (const auto& c : consumers_) {
        if (!c->never_subscribed() || !c->end().failed) continue;
        const auto why = c->first_error();
        (void)stop(milliseconds(5'000));
        throw exception(why);
    }
}

void group_core::notify() {
    std::lock_guard lock(mutex_);
    ++version_;
    changed_.notify_all();
}

bool group_core::all_finished() const {
    return std::ranges::all_of(consumers_, [](const auto& c) { return c->finished(); });
}

void group_core::wait(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] { return phase_ != phase::running || (!consumers_.empty() && all_finished()); });
}

void group_core::begin_drain() {
    std::vector<std::shared_ptr<consumer>> consumers;
    {
        std::lock_guard lock(mutex_);
        if (phase_ == phase::running) phase_ = phase::draining;
        consumers = consumers_;
        changed_.notify_all();
    }
    for (const auto& c : consumers)
        c->begin_drain();
}

void group_core::cut_drain() {
    std::lock_guard lock(mutex_);
    drain_cut_ = true;
    changed_.notify_all();
}

void group_core::wait_drained(milliseconds drain) {
    // Shared: the timer may fire after this call has gone.
    const auto passed = std::make_shared<std::atomic<bool>>(drain.count() <= 0);
    auto& clock = broker_->clock();
    const auto timer = clock.call_at(clock.now() + drain, [weak = weak_from_this(), passed] {
        *passed = true;
        if (auto self = weak.lock()) self->notify();
    });
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return *passed || drain_cut_ || all_finished(); });
    }
    clock.cancel(timer);
}

run_outcome group_core::collect() {
    run_outcome outcome;
    for (const auto& c : consumers_) {
        const auto end = c->end();
        if (end.failed) ++outcome.errors;
        if (end.panicked) ++outcome.panics;
        if (end.failed || end.panicked) outcome.failures.push_back(end.text);
        if (!c->finished()) {
            outcome.timed_out = true;
            c->report_left(outcome);
        }
    }
    return outcome;
}

run_outcome group_core::stop(milliseconds drain) {
    begin_drain();
    wait_drained(drain);
    auto outcome = collect();
    {
        std::lock_guard lock(mutex_);
        phase_ = phase::ended;
    }
    broker_->leave(this);
    return outcome;
}

consumer_stats group_core::stats(std::string_view queue) const {
    std::vector<std::shared_ptr<consumer>> consumers;
    {
        std::lock_guard lock(mutex_);
        consumers = consumers_;
    }
    consumer_stats sum;
    for (const auto& c : consumers) {
        if (c->plan().queue() == queue) c->add_stats(sum);
    }
    return sum;
}

}  // namespace shove::detail
