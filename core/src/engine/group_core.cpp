#include "group_core.hpp"

#include <algorithm>
#include <atomic>
#include <set>

#include "blocking.hpp"
#include "broker_core.hpp"
#include "supported.hpp"

namespace shove::detail {
namespace {

[[noreturn]] void refuse(errc code, const std::string& text) {
    throw exception(error(code, text));
}

}  // namespace

void group_core::add(registration what, handler_factory make) {
    const auto& topology = *what.topology;
    if (what.dead && topology.dead_letter_queue.empty()) {
        refuse(errc::invalid_topology,
               "topic '" + topology.queue + "' has no dead-letter queue to consume; give it dlq()");
    }
    if (auto lacking = check_supported(topology, broker_->capabilities())) throw exception(std::move(lacking));
    if (auto wrong = check_broadcast(what, broker_->capabilities())) throw exception(std::move(wrong));
    consumer_plan plan;
    plan.options = settle_options(what.options, defaults_);
    plan.dead = what.dead;
    plan.batch = what.batch;
    plan.topology = std::move(what.topology);
    if (plan.batch && !what.options.prefetch.given()) plan.options.prefetch = 2 * plan.batch->max_messages;
    if (what.broadcast) {
        plan.broadcast = what.broadcast->from;
        plan.options.consumers = 1;
        plan.options.concurrent = false;
        plan.options.prefetch = 1;
        plan.options.max_retries = 0;
    }
    if (plan.batch) check_batch(*plan.batch, plan.options, *plan.topology);
    check_settings(plan.options, plan.queue());
    if (plan.options.audit) follow_audit(plan.options.audit);
    std::lock_guard lock(mutex_);
    if (phase_ != phase::idle) refuse(errc::invalid_argument, "add() after start(); make another group");
    if (std::ranges::any_of(keepers_, [&](const auto& k) { return k->members().plan().queue() == plan.queue(); })) {
        refuse(errc::invalid_argument, "queue '" + plan.queue() + "' is registered in this group already");
    }
    if (plan.dead || !plan.topology->sequencing) return hire_crew(std::move(plan), std::move(make));
    const auto shards = plan.topology->sequencing->shards();
    auto& range = plan.options.consumers;
    if (range.min != range.max)
        plan.calls.emplace(std::min<std::uint32_t>(range.min, shards), std::min<std::uint32_t>(range.max, shards));
    range = 1;  // each shard has one reader
    const auto shared = std::make_shared<handler_factory>(std::move(make));
    for (std::uint16_t i = 0; i < shards; ++i) {
        plan.shard = i;
        hire_crew(plan, [shared] { return (*shared)(); });
    }
}

/// With the lock held.
void group_core::hire_crew(consumer_plan plan, handler_factory make) {
    auto changed = [weak = weak_from_this(), which = keepers_.size()] {
        if (auto self = weak.lock()) self->crew_changed(which);
    };
    auto members = std::make_shared<crew>(broker_, std::move(plan), std::move(make), std::move(changed));
    keepers_.push_back(std::make_shared<respawner>(broker_, std::move(members)));
}

void group_core::enable_autoscaling(autoscaler_options options) {
    check_scaling(options);
    std::lock_guard lock(mutex_);
    if (phase_ != phase::idle) refuse(errc::invalid_argument, "enable_autoscaling() after start()");
    scaling_ = std::move(options);
}

bool group_core::started() const {
    std::lock_guard lock(mutex_);
    return phase_ != phase::idle;
}

void group_core::declare_all() {
    for (const auto& k : keepers_) {
        const auto failed = wait_for<error>(
            [&](auto done) { broker_->driver().declare(k->members().plan().topology, std::move(done)); });
        if (failed) throw exception(failed);
    }
}

void group_core::enter_start() {
    std::lock_guard lock(mutex_);
    if (phase_ != phase::idle) refuse(errc::invalid_argument, "start() of a group that was started already");
    if (broker_->closed()) refuse(errc::closed, "start() of a group whose broker is closed");
    phase_ = phase::running;
    if (!scaling_) return;
    scaler_ = std::make_shared<scaler>(broker_, *scaling_);
    for (auto at = keepers_.begin(); at != keepers_.end();) {
        const auto& plan = (*at)->members().plan();
        const auto& range = plan.options.consumers;
        const auto end = at + (plan.shard ? plan.topology->sequencing->shards() : 1);  // shards stand side by side
        if (plan.calls) scaler_->watch(std::make_unique<scaled_shards>(keepers(at, end)));
        if (range.min != range.max) scaler_->watch(std::make_unique<scaled_crew>(*at));
        at = end;
    }
}

/// Makes the first consumers. If a factory throws, those already made end, and the group with them.
crew::consumers group_core::hire_all() {
    crew::consumers made;
    try {
        for (const auto& k : keepers_)
            std::ranges::move(k->members().hire(k->members().target()), std::back_inserter(made));
    } catch (...) {
        begin_drain();
        for (const auto& c : made)
            c->start();  // told to end before: it does so at once
        throw;
    }
    return made;
}

void group_core::start() {
    enter_start();
    declare_all();
    const auto made = hire_all();
    broker_->enter(shared_from_this());
    for (const auto& c : made)
        c->start();
    await_subscriptions();
    supervise();
}

/// Waits until each consumer has subscribed once; the first error that cannot be retried ends them all.
void group_core::await_subscriptions() {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] {
            return drain_cut_ || std::ranges::all_of(keepers_, [](const auto& k) { return k->members().subscribed(); });
        });
    }
    for (const auto& k : keepers_) {
        const auto why = k->members().refusal();
        if (!why) continue;
        (void)stop(milliseconds(5'000));
        throw exception(*why);
    }
}

/// From now on the dead are replaced, and the load is followed.
void group_core::supervise() {
    {
        std::lock_guard lock(mutex_);
        if (phase_ != phase::running) return;
        supervised_ = true;
        if (scaler_) scaler_->start();
    }
    for (std::size_t i = 0; i < keepers_.size(); ++i)
        crew_changed(i);
    std::int64_t consumers = 0;
    for (const auto& k : keepers_)
        consumers += k->members().target();
    broker_->tell(happening::group_started, "a consumer group runs with " + std::to_string(consumers) + " consumer(s)",
                  {{"consumers", consumers}});
}

void group_core::wake() {
    std::lock_guard lock(mutex_);
    changed_.notify_all();
}

void group_core::crew_changed(std::size_t which) {
    std::shared_ptr<respawner> keeper;
    {
        std::lock_guard lock(mutex_);
        changed_.notify_all();
        if (supervised_ && phase_ == phase::running) keeper = keepers_[which];
    }
    if (keeper && keeper->members().someone_ended()) keeper->look_soon();
}

bool group_core::all_finished() const {
    return std::ranges::all_of(keepers_, [](const auto& k) { return k->members().finished(); });
}

void group_core::wait(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [&] {
        return phase_ != phase::running || (!keepers_.empty() && broker_->closed() && all_finished());
    });
}

void group_core::begin_drain() {
    keepers all;
    {
        std::lock_guard lock(mutex_);
        if (phase_ == phase::running) phase_ = phase::draining;
        if (scaler_) scaler_->stop();  // before all else: nothing is scaled any more
        all = keepers_;
        changed_.notify_all();
    }
    for (const auto& k : all)
        k->stop();
    for (const auto& k : all)
        k->members().begin_drain();
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
        if (auto self = weak.lock()) self->wake();
    });
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return *passed || drain_cut_ || all_finished(); });
    }
    clock.cancel(timer);
}

/// Has what becomes of its records told and counted.
void group_core::follow_audit(const std::shared_ptr<audit_trail>& trail) const {
    trail->on_progress([weak = std::weak_ptr(broker_)](const audit_progress& what) {
        const auto core = weak.lock();
        if (!core) return;
        if (auto* meters = core->meters()) {
            meters->audit_written.add(what.written);
            meters->audit_failed.add(what.failed);
        }
        if (!what.first_failed) return;
        core->tell(
            happening::audit_failed,
            "audit records could not be written, the first of '" + what.first_failed->topic +
                "': " + std::string(what.why),
            {{"queue", what.first_failed->topic}, {"message_id", what.first_failed->delivery_id}, {"error", what.why}});
    });
}

/// Waits for what was written down to be handed over, all trails together no longer than that.
void group_core::flush_audit(milliseconds deadline) const {
    std::set<std::shared_ptr<audit_trail>> trails;
    for (const auto& k : keepers_) {
        if (const auto& trail = k->members().plan().options.audit) trails.insert(trail);
    }
    // Real time, whatever the clock is: the trail's thread works in it.
    const auto until = std::chrono::steady_clock::now() + deadline;
    for (const auto& trail : trails) {
        const auto left = std::chrono::ceil<milliseconds>(until - std::chrono::steady_clock::now());
        (void)trail->flush(std::max(left, milliseconds(0)));
    }
}

run_outcome group_core::collect() const {
    run_outcome outcome;
    for (const auto& k : keepers_)
        k->members().report(outcome);
    return outcome;
}

run_outcome group_core::stop(milliseconds drain) {
    const auto until = broker_->clock().now() + drain;
    begin_drain();
    wait_drained(drain);
    auto outcome = collect();
    bool first = false;
    {
        std::lock_guard lock(mutex_);
        first = std::exchange(phase_, phase::ended) != phase::ended;
    }
    if (first) flush_audit(std::chrono::ceil<milliseconds>(until - broker_->clock().now()));
    broker_->leave(this);
    if (first) {
        broker_->tell(happening::group_drained,
                      "a consumer group has ended, exit code " + std::to_string(outcome.exit_code()),
                      {{"exit_code", std::int64_t{outcome.exit_code()}},
                       {"left", static_cast<std::int64_t>(outcome.left)},
                       {"stuck", static_cast<std::int64_t>(outcome.stuck.size())}});
    }
    return outcome;
}

void group_core::report_stuck(std::vector<stuck_call>& to) const {
    keepers all;
    {
        std::lock_guard lock(mutex_);
        all = keepers_;
    }
    for (const auto& k : all)
        k->members().report_stuck(to);
}

std::vector<group_core::consumed> group_core::consumes() const {
    keepers all;
    {
        std::lock_guard lock(mutex_);
        all = keepers_;
    }
    std::vector<consumed> found;
    for (const auto& k : all) {
        const auto& plan = k->members().plan();
        if (plan.dead || plan.broadcast) continue;
        // Shards of one topic stand side by side.
        if (!plan.shard || *plan.shard == 0) found.push_back({plan.topology, {}, 0, steady_time::min()});
        auto& into = found.back();
        into.places.push_back(plan.place());
        into.consumers += k->members().count().live;
        into.last_received = std::max(into.last_received, k->members().last_received());
    }
    return found;
}

consumer_stats group_core::stats(std::string_view queue) const {
    keepers all;
    {
        std::lock_guard lock(mutex_);
        all = keepers_;
    }
    consumer_stats sum;
    for (const auto& k : all) {
        if (k->members().plan().queue() == queue) k->members().add_stats(sum);
    }
    return sum;
}

}  // namespace shove::detail
