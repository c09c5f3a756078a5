#include "consumer.hpp"

#include "broker_core.hpp"

namespace shove::detail {
namespace {

decide::failure_policy policy_of(const consumer_plan& plan, const spi::capabilities& caps) {
    decide::failure_policy policy;
    policy.queue = plan.place();
    policy.max_retries = plan.options.max_retries;
    policy.crash_budget = caps.crash_budget ? plan.options.crash_budget : 0;
    for (const auto& hold : plan.topology->holds)
        policy.holds.push_back(hold.delay);
    policy.any_delay = caps.any_delay;
    policy.has_dlq = !plan.topology->dead_letter_queue.empty();
    return policy;
}

}  // namespace

spi::delivery copy_of(const spi::delivery& item) {
    spi::delivery copy;
    copy.msg = item.msg;
    copy.tag = item.tag;
    copy.deliveries = item.deliveries;
    copy.redelivered = item.redelivered;
    copy.fence = item.fence;
    if (item.past) copy.past = std::make_unique<spi::history>(*item.past);
    return copy;
}

consumer::consumer(std::shared_ptr<broker_core> core, consumer_plan plan, std::function<void()> changed)
    : core_(std::move(core)),
      plan_(std::move(plan)),
      policy_(policy_of(plan_, core_->capabilities())),
      limits_{plan_.options.max_message_bytes},
      coroutine_(plan_.handler->is_coroutine()),
      flush_at_(std::min<std::size_t>(64, std::max<std::size_t>(1, plan_.options.prefetch / 4))),
      changed_(std::move(changed)),
      place_(plan_.place()),
      meters_(core_->board() ? core_->board()->consumer(plan_.topology->queue, plan_.topology->reader_group) : nullptr),
      audit_(plan_.dead || plan_.topology->queue == audit_log::topology.queue() ? nullptr : plan_.options.audit),
      observed_(calls_measured() || audit_ || core_->tracer()),
      concurrency_(plan_.calls_at_once()),
      max_workers_(std::min<std::size_t>(concurrency_, core_->workers().size())) {
    last_received_ = core_->clock().now();
    if (plan_.shard) lanes_ = std::make_unique<decide::lanes>(plan_.options.max_pending_per_key);
    if (plan_.batch) batches_ = std::make_unique<decide::batcher>(*plan_.batch);
    if (coroutine_) strand_.emplace(boost::asio::make_strand(core_->executor()));
}

void consumer::start() {
    core_->gate().enroll(weak_from_this());
    subscribe();
}

void consumer::subscribe() {
    {
        lock_type lock(mutex_);
        if (phase_ != phase::subscribing) return finish(lock);
    }
    spi::source from;
    from.topology = plan_.topology;
    from.dead_letters = plan_.dead;
    from.prefetch = lanes_ ? plan_.options.reorder_window : plan_.options.prefetch;
    from.shard = plan_.shard;
    from.broadcast = plan_.broadcast;
    from.consumer = plan_.name;
    core_->driver().subscribe(std::move(from),
                              [self = shared_from_this()](auto made) { self->subscribed_with(std::move(made)); });
}

void consumer::subscribed_with(result<std::shared_ptr<spi::subscription>> made) {
    if (!made) {
        core_->count_error(broker_meters::consume);
        if (!is_retryable(made.error().code)) return fail(made.error());
        if (subscribe_backoff_.failures() == 0) {
            say(happening::subscribe_failed,
                "cannot subscribe to '" + plan_.queue() + "' yet: " + made.error().message(),
                {{"error", made.error().message()}});
        }
        {
            lock_type lock(mutex_);
            if (phase_ == phase::draining) return finish(lock);
        }
        return after(subscribe_backoff_.next(core_->random()), &consumer::subscribe);
    }
    {
        lock_type lock(mutex_);
        subscription_ = std::move(made).value();
        subscribed_once_ = true;
        if (phase_ == phase::subscribing) phase_ = phase::running;
    }
    if (core_->capabilities().lease.count() > 0) after(core_->capabilities().lease / 3, &consumer::renew_leases);
    changed_();
    pump();
}

void consumer::fail(const error& why) {
    say(happening::consumer_ended, "consumer of '" + plan_.queue() + "' ended: " + why.message(),
        {{"error", why.message()}});
    lock_type lock(mutex_);
    end_.failed = true;
    end_.text = "consumer of '" + plan_.queue() + "': " + why.message();
    first_error_ = why;
    finish(lock);
}

/// Ends the consumer; unlocks.
void consumer::finish(lock_type& lock) {
    phase_ = phase::finished;
    if (measured()) meter_state();
    lock.unlock();
    changed_();
}

bool consumer::begin_drain(bool only_if_idle) {
    {
        lock_type lock(mutex_);
        if (phase_ != phase::running && phase_ != phase::subscribing) return false;
        if (only_if_idle && (unsettled_ > 0 || running_ > 0)) return false;
        phase_ = phase::draining;
        release_unstarted();
        flush_now_ = true;
    }
    std::shared_ptr<spi::subscription> subscription;
    {
        lock_type lock(mutex_);
        if (receiving_ && !asking_) subscription = subscription_;
    }
    if (subscription) subscription->cancel_receive();
    pump();
    return true;
}

void consumer::limit_calls(std::size_t most) {
    {
        lock_type lock(mutex_);
        concurrency_ = std::min(most, plan_.calls_at_once());
        max_workers_ = std::min<std::size_t>(concurrency_, core_->workers().size());
    }
    pump();
}

/// Closes the subscription once everything is settled; unlocks if it does.
void consumer::close_if_drained(lock_type& lock) {
    if (phase_ != phase::draining || !subscription_) return;
    if (running_ || receiving_ || settling_ || !outbox_.empty() || !failed_outbox_.empty() || solo_isolating_) return;
    if (last_batch_left()) return;
    phase_ = phase::closing;
    auto subscription = subscription_;
    lock.unlock();
    subscription->close([self = shared_from_this()](const error& why) {
        if (why && !(why == errc::closed)) {
            self->say(happening::close_failed, "closing '" + self->plan_.queue() + "': " + why.message(),
                      {{"error", why.message()}});
        }
        lock_type relock(self->mutex_);
        self->subscription_.reset();
        self->finish(relock);
    });
}

void consumer::report_left(run_outcome& outcome) {
    lock_type lock(mutex_);
    if (phase_ == phase::finished) return;
    const auto now = core_->clock().now();
    for (const auto& c : calls_) {
        if (c->now == call::phase::idle) continue;
        c->state.stop.request_stop();
        const auto& first = batches_ ? c->members.front().item : c->state.item;
        outcome.stuck.push_back(
            {plan_.queue(), first.msg.id(), std::chrono::duration_cast<milliseconds>(now - c->started)});
    }
    outcome.left += unsettled_;
}

void consumer::report_stuck(std::vector<stuck_call>& to) const {
    lock_type lock(mutex_);
    const auto now = core_->clock().now();
    for (const auto& c : calls_) {
        if (c->now != call::phase::abandoned) continue;
        const auto& first = batches_ ? c->members.front().item : c->state.item;
        to.push_back({plan_.queue(), first.msg.id(), std::chrono::duration_cast<milliseconds>(now - c->started)});
    }
}

steady_time consumer::last_received() const {
    lock_type lock(mutex_);
    return last_received_;
}

bool consumer::subscribed() const {
    lock_type lock(mutex_);
    return subscribed_once_ || phase_ == phase::finished;
}

bool consumer::never_subscribed() const {
    lock_type lock(mutex_);
    return !subscribed_once_ && phase_ == phase::finished;
}

bool consumer::finished() const {
    lock_type lock(mutex_);
    return phase_ == phase::finished;
}

consumer_end consumer::end() const {
    lock_type lock(mutex_);
    return end_;
}

error consumer::first_error() const {
    lock_type lock(mutex_);
    return first_error_;
}

void consumer::add_stats(consumer_stats& to) const {
    lock_type lock(mutex_);
    to.received += stats_.received;
    to.calls += stats_.calls;
    to.acked += stats_.acked;
    to.retried += stats_.retried;
    to.deferred += stats_.deferred;
    to.dead_lettered += stats_.dead_lettered;
    to.discarded += stats_.discarded;
    to.released += stats_.released;
    to.timeouts += stats_.timeouts;
    to.exceptions += stats_.exceptions;
    to.leases_lost += stats_.leases_lost;
    to.settle_retries += stats_.settle_retries;
    to.stuck += stats_.stuck;
    to.running += running_;
    to.unsettled += unsettled_;
}

/// Calls a member after a delay, if the consumer still lives then.
void consumer::after(milliseconds delay, void (consumer::*action)()) {
    core_->clock().call_at(core_->clock().now() + delay, [weak = weak_from_this(), action] {
        if (auto self = weak.lock()) ((*self).*action)();
    });
}

/// Tells something about its queue; `more` are the fields after that.
void consumer::say(happening what, const std::string& text, std::initializer_list<event_field> more) const {
    std::vector<event_field> fields{{"queue", plan_.queue()}};
    fields.insert(fields.end(), more);
    core_->tell(what, text, fields);
}

}  // namespace shove::detail
