#include <chrono>
#include <utility>

#include <boost/asio/post.hpp>

#include "broker_core.hpp"
#include "call_answer.hpp"
#include "consumer.hpp"

namespace shove::detail {
namespace {

/// A worker goes on to other consumers after so many messages, if some wait.
constexpr unsigned turn = 64;

}  // namespace

/// Has workers or the executor start calls for what is ready. May unlock.
void consumer::dispatch(lock_type& lock) {
    const bool something = solo_ready_ || (has_ready() && !core_->gate().closed());
    if (!something || !may_start()) return;
    if (coroutine_) {
        if (launching_ || running_ >= concurrency_) return;
        launching_ = true;
        lock.unlock();
        boost::asio::post(*strand_, [self = shared_from_this()] { self->launch_coroutines(); });
    } else if (active_workers_ < max_workers_ && (solo_ready_ || wants_worker())) {
        ++active_workers_;
        lock.unlock();
        core_->workers().submit(shared_from_this());
    }
}

/// Whether what is ready is worth one more worker; if not, that is looked at again soon. With the lock held.
bool consumer::wants_worker() {
    if (pace_.worth_a_worker(ready_count(), active_workers_)) return true;
    waits_for_worker_ = true;
    look_soon();
    return false;
}

void consumer::work(worker_context& context) {
    try {
        work_in_turn(context);
    } catch (const std::exception& e) {
        panic(e.what());
    }
}

/// An exception of the engine itself, memory exhausted for one: the consumer ends, and says so.
void consumer::panic(const std::string& what) {
    {
        lock_type lock(mutex_);
        --active_workers_;
        end_.panicked = true;
        end_.text = "consumer of '" + plan_.queue() + "' ended by an internal exception: " + what;
        say(happening::consumer_panicked, end_.text, {{"error", what}});
    }
    begin_drain();
}

void consumer::work_in_turn(worker_context& context) {
    auto mark = observed_ ? core_->clock().now() : steady_time{};
    auto since = std::chrono::steady_clock::now();  // real: it is about threads
    unsigned calls = 0;
    const auto note_pace = [&] {
        const auto now = std::chrono::steady_clock::now();
        pace_.ended(std::exchange(calls, 0U), now - since);
        since = now;
    };
    lock_type lock(mutex_);
    for (unsigned n = 0;; ++n) {
        if (n >= turn && context.pool.has_waiting()) break;
        if (calls >= turn) note_pace();
        auto* c = claim();
        if (!c) break;
        if (has_ready() && active_workers_ < max_workers_ && wants_worker()) {  // wake one more; it wakes the next
            ++active_workers_;
            lock.unlock();
            core_->workers().submit(shared_from_this());
        } else {
            lock.unlock();
        }
        if (observed_) observe_begin(*c, mark);
        auto how = run(*c, context.scratch);
        if (observed_) mark = observe_end(*c, how);
        lock.lock();
        ++calls;
        ++ended_;
        end_call(*c, std::move(how));
        if (after_call(lock) && observed_) mark = core_->clock().now();
    }
    note_pace();
    --active_workers_;
    if (lanes_) {  // suspects and poisoned messages may have been met
        lock.unlock();
        ask_for_solo();
        return pump();
    }
    dispatch(lock);
}

/// After a call ended: lets the driver have what is due, and says whether that took place here. Called and returns
/// with the lock.
bool consumer::after_call(lock_type& lock) {
    const bool quiet = running_ == 0 && core_->gate().closed();
    if (!quiet && !wants_flush() && !wants_receive() && phase_ == phase::running) {
        look_soon();
        return false;
    }
    lock.unlock();
    if (quiet) core_->gate().recheck();
    pump();
    lock.lock();
    return true;
}

/// The next message to call the handler with. With the lock held.
call* consumer::claim() {
    if (!may_start() || running_ >= concurrency_) return nullptr;
    if (solo_ready_) {
        auto item = std::move(*solo_ready_);
        solo_ready_.reset();
        auto* c = begin_call(std::move(item), true);
        if (lanes_) c->lane = lane_of_suspect(c->state.item.tag);
        return c;
    }
    if (lanes_) return claim_from_lanes();
    if (batches_) return claim_batch();
    if (ready_.empty() || held_up_ || core_->gate().closed()) return nullptr;
    auto item = std::move(ready_.front());
    ready_.pop_front();
    return begin_call(std::move(item), false);
}

call* consumer::begin_call(spi::delivery item, bool solo) {
    if (idle_calls_.empty()) {
        calls_.push_back(std::make_unique<call>());
        auto& fresh = *calls_.back();
        fresh.state.queue = plan_.queue();
        fresh.state.clock = &core_->clock();
        fresh.state.stop = std::stop_source();
        idle_calls_.push_back(&fresh);
    }
    auto* c = idle_calls_.back();
    idle_calls_.pop_back();
    if (batches_) {
        c->size = 0;
        if (solo) add_member(*c, std::move(item));
    } else {
        c->state.item = std::move(item);
    }
    c->now = call::phase::running;
    c->solo = solo;
    ++running_;
    const auto& limit = plan_.options.handler_timeout;
    const bool exact = limit && *limit < std::chrono::seconds(1);
    c->started = exact ? core_->clock().now() : core_->clock().recent();
    if (limit) watch_until(c->started + *limit);
    if (!batches_ && calls_measured()) meter_begun(*c);
    return c;
}

/// Checks and calls. Without the lock.
call_end consumer::run(call& c, decode_scratch& scratch) const {
    if (batches_) return run_batch(c, scratch);
    const auto& item = c.state.item;
    if (!plan_.dead) {
        const bool may_expire = item.msg.expires_at() != wall_time{};
        auto refused =
            decide::refuse_unhandled(policy_, limits_, item, may_expire ? core_->clock().wall() : wall_time{});
        if (refused) return {std::move(*refused), false};
    }
    try {
        delivery info(c.state);
        auto how = ended_of(plan_.handler->call(info, scratch));
        const bool called = counted_outcome(how).has_value();
        return {std::move(how), called};
    } catch (...) {
        return {ended_of(std::current_exception())};
    }
}

/// Takes a call's answer. With the lock held.
void consumer::end_call(call& c, call_end end) {
    --running_;
    if (end.called) ++stats_.calls;
    if (calls_measured()) meter_ended(c, end);
    const auto was = std::exchange(c.now, call::phase::idle);
    if (c.state.stop.stop_requested()) c.state.stop = std::stop_source();
    idle_calls_.push_back(&c);
    if (was == call::phase::abandoned) {
        --stats_.stuck;
        if (measured()) meters_->stuck.set(stats_.stuck);
        if (!lanes_) return c.clear();
        end.all = timed_out();  // its key has waited for it; what it said now is too late
    }
    if (was == call::phase::cancelling && end.all.how == decide::ending::exception) {
        end.all.how = decide::ending::timed_out;
        end.all.timeout_kind = plan_.options.timeout_outcome.kind();
        end.all.text = "timed out: " + end.all.text;
    }
    if (batches_) return settle_batch(c, std::move(end));
    auto item = std::exchange(c.state.item, {});
    if (lanes_) return settle_in_lane(std::exchange(c.lane, nullptr), std::move(item), std::move(end.all), c.solo);
    settle_as(std::move(item), std::move(end.all), c.solo);
}

decide::ended consumer::timed_out() const {
    decide::ended how;
    how.how = decide::ending::timed_out;
    how.timeout_kind = plan_.options.timeout_outcome.kind();
    how.text = "timed out after " + std::to_string(plan_.options.handler_timeout->count()) + " ms";
    return how;
}

/// Decides and queues the settlement. With the lock held.
void consumer::settle_as(spi::delivery item, decide::ended how, bool solo) {
    if (solo) solo_settling_ = true;
    if (calls_measured()) meter_outcome(how);
    if (how.how == decide::ending::acked) {
        ++stats_.acked;
        outbox_.emplace_back().item = std::move(item);
        return;
    }
    auto verdict = plan_.dead ? decide::settle_dead(std::move(item), how)
                              : decide::settle(policy_, std::move(item), how, core_->clock().wall());
    count(verdict.fate, how);
    if (calls_measured()) meter_fate(verdict, how);
    if (!verdict.reason.empty()) say_lost(verdict, how);
    if (plan_.broadcast && verdict.what.kind == spi::settlement_kind::delay) return hold_up(std::move(verdict.what));
    outbox_.push_back(std::move(verdict.what));
}

/// Tells of a message that failed for good.
void consumer::say_lost(const decide::verdict& verdict, const decide::ended& how) const {
    const auto& item = verdict.what.item;
    const auto id = item.msg.id();
    const bool discarded = verdict.fate == decide::fate::discarded;
    auto text = "a message of '" + plan_.queue() + (discarded ? "' was discarded (" : "' is dead-lettered (") +
                std::string(verdict.reason);
    if (discarded && !how.text.empty()) text += ": " + how.text;
    text += discarded && !plan_.broadcast ? "): there is no dead-letter queue" : ")";
    const auto attempt = std::int64_t{item.past ? item.past->retries : 0} + 1;
    say(discarded ? happening::message_discarded : happening::message_dead_lettered, text,
        {{"reason", verdict.reason}, {"message_id", id}, {"attempt", attempt}});
}

void consumer::count(decide::fate fate, const decide::ended& how) {
    if (how.how == decide::ending::exception) ++stats_.exceptions;
    switch (fate) {
        case decide::fate::completed:
            ++stats_.acked;
            break;
        case decide::fate::retried:
            ++stats_.retried;
            break;
        case decide::fate::deferred:
            ++stats_.deferred;
            break;
        case decide::fate::discarded:
            ++stats_.discarded;
            [[fallthrough]];
        case decide::fate::dead_lettered:
            ++stats_.dead_lettered;
            break;
    }
}

// --- timeouts ---------------------------------------------------------------------------------------

/// Has the calls looked at by then, or earlier. With the lock held.
void consumer::watch_until(steady_time due) {
    if (watch_timer_ != 0 && watch_due_ <= due) return;
    if (watch_timer_ != 0) core_->clock().cancel(watch_timer_);
    watch_due_ = due;
    watch_timer_ = core_->clock().call_at(due, [weak = weak_from_this(), due] {
        if (auto self = weak.lock()) self->watch_timeouts(due);
    });
}

/// Looks for calls over their time, and plans the next look.
void consumer::watch_timeouts(steady_time planned) {
    {
        lock_type lock(mutex_);
        if (watch_due_ == planned) watch_timer_ = 0;
        const auto now = core_->clock().now();
        const auto limit = *plan_.options.handler_timeout;
        const auto grace = plan_.options.timeout_grace;
        for (const auto& c : calls_) {
            if (c->now == call::phase::running && c->started + limit <= now) time_out(*c);
            if (c->now == call::phase::cancelling && c->started + limit + grace <= now) abandon(*c);
            if (c->now == call::phase::running) watch_until(c->started + limit);
            if (c->now == call::phase::cancelling) watch_until(c->started + limit + grace);
        }
    }
    pump();
}

/// Tells a call to stop. With the lock held.
void consumer::time_out(call& c) {
    c.now = call::phase::cancelling;
    ++stats_.timeouts;
    c.state.stop.request_stop();
    if (!c.cancel) return;
    boost::asio::post(*strand_, [self = shared_from_this(), &c] {
        bool still = false;
        {
            lock_type lock(self->mutex_);
            still = c.now == call::phase::cancelling;
        }
        if (still) c.cancel->emit(boost::asio::cancellation_type::terminal);
    });
}

/// Settles a call that does not stop, by policy; it keeps its place until it returns. With the lock held.
void consumer::abandon(call& c) {
    c.now = call::phase::abandoned;
    ++stats_.stuck;
    if (calls_measured() && !lanes_) meter_abandoned(c);
    std::string id;
    c.for_each_item([&](const spi::delivery& held) { id = id.empty() ? held.msg.id() : id; });
    if (lanes_) {
        return say(happening::handler_stuck,
                   "a handler of '" + plan_.queue() + "' runs on after its timeout; its key waits for it",
                   {{"message_id", id}});
    }
    c.for_each_item([&](const spi::delivery& held) { settle_as(copy_of(held), timed_out(), c.solo); });
    flush_now_ = true;
    say(happening::handler_stuck,
        "a handler of '" + plan_.queue() + "' runs on after its timeout; it was settled without it",
        {{"message_id", id}});
}

// --- suspects ---------------------------------------------------------------------------------------

std::size_t consumer::calls_running() {
    lock_type lock(mutex_);
    return running_ - stats_.stuck;
}

/// Asks the gate for a turn if a suspect waits.
void consumer::ask_for_solo() {
    {
        lock_type lock(mutex_);
        if (suspects_.empty() || solo_requested_ || phase_ != phase::running) return;
        solo_requested_ = true;
    }
    core_->gate().request(weak_from_this());
}

void consumer::solo_granted() {
    std::shared_ptr<spi::subscription> subscription;
    std::uint64_t tag = 0;
    {
        lock_type lock(mutex_);
        if (phase_ == phase::running && !suspects_.empty() && subscription_) {
            solo_item_ = std::move(suspects_.front());
            suspects_.pop_front();
            solo_isolating_ = true;
            tag = solo_tag_ = solo_item_->tag;
            subscription = subscription_;
        } else {
            solo_requested_ = false;
        }
    }
    if (!subscription) return core_->gate().release();
    subscription->isolate(tag, [self = shared_from_this()](const error& why) { self->solo_isolated(why); });
}

void consumer::solo_isolated(const error& why) {
    bool gave_up = false;
    {
        lock_type lock(mutex_);
        solo_isolating_ = false;
        auto item = std::move(*solo_item_);
        solo_item_.reset();
        if (why == errc::lease_lost || shard_lost_) {
            if (lanes_) lanes_->finish(lane_of_suspect(item.tag));
            --unsettled_;
            ++stats_.leases_lost;
            if (lanes_) shard_lost();
            gave_up = true;
        } else if (lanes_ && why && phase_ == phase::running) {
            postpone_suspect(std::move(item));
            gave_up = true;
        } else if (why || phase_ != phase::running) {
            if (lanes_) lanes_->finish(lane_of_suspect(item.tag));
            release(std::move(item));
            flush_now_ = true;
            solo_settling_ = true;
        } else {
            solo_ready_ = std::move(item);
        }
        if (gave_up) solo_requested_ = false;
    }
    if (gave_up) core_->gate().release();
    pump();
}

void consumer::solo_ended() {
    pump();
}

}  // namespace shove::detail
