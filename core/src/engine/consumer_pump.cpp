#include <algorithm>
#include <unordered_set>

#include "broker_core.hpp"
#include "consumer.hpp"

namespace shove::detail {
namespace {

/// The longest time that a decided settlement waits for others to join it.
constexpr auto max_settle_wait = milliseconds(5);

/// A shard reads at least so many messages at a time, in search of keys that can go on.
constexpr std::size_t read_ahead = 64;

}  // namespace

/// Runs driver operations until none is wanted. Whoever finds another thread in here leaves it the work.
void consumer::pump() {
    lock_type lock(mutex_);
    if (pumping_) {
        pump_again_ = true;
        return;
    }
    pumping_ = true;
    bool more = true;
    while (more) {
        pump_again_ = false;
        more = pump_once(lock) || pump_again_;
    }
    pumping_ = false;
    if (measured()) meter_state();
    look_soon();
    dispatch(lock);
    if (lock.owns_lock()) close_if_drained(lock);
}

/// Starts one driver operation if one is wanted. Called and returns with the lock; true: look again.
bool consumer::pump_once(lock_type& lock) {
    if (!subscription_) return false;
    const auto subscription = subscription_;
    if (shard_lost_ && receiving_ && !asking_ && !receive_cancelled_) {  // ask anew, once all of the old is over
        receive_cancelled_ = true;
        lock.unlock();
        subscription->cancel_receive();
        lock.lock();
        return true;
    }
    if (wants_flush()) {
        settling_ = true;
        flush_now_ = false;
        auto batch = std::exchange(outbox_, {});
        outbox_.reserve(flush_at_);
        settling_count_ = batch.size();
        settling_keeps_.clear();
        settling_poisons_ = 0;
        if (lanes_) {
            for (const auto& s : batch) {
                if (s.kind == spi::settlement_kind::keep) settling_keeps_.push_back(s.item.tag);
                if (s.poison_key) ++settling_poisons_;
            }
            settling_count_ -= settling_keeps_.size();
        }
        solo_in_batch_ =
            solo_settling_ && std::ranges::any_of(batch, [&](const auto& b) { return b.item.tag == solo_tag_; });
        if (core_->capabilities().lease.count() > 0) {
            for (const auto& s : batch)
                settling_tags_.push_back(s.item.tag);
        }
        if (!discards_.empty()) begin_settling_discards(batch);
        lock.unlock();
        auto traced = trace_settling(batch);
        subscription->settle(std::move(batch), [self = shared_from_this(), traced = std::move(traced)](auto failed) {
            self->settled(std::move(failed));
        });
        lock.lock();
        return true;
    }
    if (wants_receive()) {
        receiving_ = true;
        asking_ = true;
        shard_lost_ = false;
        receive_cancelled_ = false;
        // What an earlier receive gave is in the lanes by now: from here on the driver's flag is enough.
        if (lanes_ && poisons_unconfirmed_ == 0 && core_->capabilities().keeps_keys) lanes_->trust_driver();
        const auto max = credit();
        lock.unlock();
        subscription->receive(max, [self = shared_from_this()](auto batch) { self->received(std::move(batch)); });
        lock.lock();
        asking_ = false;
        if (receiving_ && phase_ != phase::running) {  // the drain began before the driver knew of this receive
            lock.unlock();
            subscription->cancel_receive();
            lock.lock();
        }
        return true;
    }
    return false;
}

bool consumer::wants_flush() const {
    if (settling_ || outbox_.empty()) return false;
    if (lanes_ && !failed_outbox_.empty()) return false;  // in order
    return flush_now_ || !has_ready() || outbox_.size() >= flush_at_ || solo_settling_;
}

std::size_t consumer::credit() const {
    if (lanes_) {
        const auto window = plan_.options.reorder_window;
        return std::min(window > unsettled_ ? window - unsettled_ : 0,
                        std::max<std::size_t>(plan_.options.prefetch, read_ahead));
    }
    return plan_.options.prefetch > unsettled_ ? plan_.options.prefetch - unsettled_ : 0;
}

bool consumer::wants_receive() const {
    if (phase_ != phase::running || receiving_ || receive_paused_ || solo_requested_) return false;
    if (lanes_) return lanes_want_more();
    const auto room = credit();
    return room > 0 && (ready_.empty() || room >= flush_at_);
}

void consumer::received(result<std::vector<spi::delivery>> batch) {
    if (batch && core_->tracer()) trace_received(*batch);
    {
        lock_type lock(mutex_);
        receiving_ = false;
        if (batch) {
            if (receive_backoff_.failures() > 0) {
                say(happening::receive_recovered, "receiving from '" + plan_.queue() + "' again");
            }
            receive_backoff_.reset();
            take(std::move(batch).value());
        } else if (!(batch.error() == errc::cancelled)) {
            receive_failed(batch.error());
        }
    }
    ask_for_solo();
    pump();
}

/// Takes deliveries over. With the lock held.
void consumer::take(std::vector<spi::delivery> batch) {
    unsettled_ += batch.size();
    stats_.received += batch.size();
    last_received_ = core_->clock().recent();
    if (measured()) meter_received(batch);
    if (lanes_) {
        take_into_lanes(std::move(batch));
        if (phase_ != phase::running) release_unstarted();
        return;
    }
    const auto now = batches_ ? core_->clock().now() : steady_time{};
    for (auto& item : batch) {
        if (is_suspect(item)) {
            suspects_.push_back(std::move(item));
        } else if (batches_) {
            batches_->add(std::move(item), now);
        } else {
            ready_.push_back(std::move(item));
        }
    }
    if (batches_) watch_batches();
    if (phase_ != phase::running) release_unstarted();
}

bool consumer::is_suspect(const spi::delivery& item) const noexcept {
    return policy_.crash_budget > 0 && !plan_.dead && item.past && item.past->crashes > 0 &&
           item.past->crashes < policy_.crash_budget;
}

/// Waits before the next receive; a broker that refuses for good ends the consumer. With the lock held.
void consumer::receive_failed(const error& why) {
    if (phase_ != phase::running) return;
    if (!(why == errc::lease_lost)) core_->count_error(broker_meters::consume);
    if (lanes_ && why == errc::lease_lost) {
        shard_lost();
    } else if (receive_backoff_.failures() == 0) {
        say(happening::receive_failed, "receiving from '" + place_ + "' failed: " + why.message(),
            {{"error", why.message()}});
    }
    if (why == errc::closed) {
        end_.failed = true;
        end_.text = "consumer of '" + plan_.queue() + "': " + why.message();
        first_error_ = why;
        phase_ = phase::draining;
        release_unstarted();
        return;
    }
    receive_paused_ = true;
    after(receive_backoff_.next(core_->random()), &consumer::receive_again);
}

void consumer::receive_again() {
    {
        lock_type lock(mutex_);
        receive_paused_ = false;
    }
    pump();
}

void consumer::settled(std::vector<spi::failed_settlement> failed) {
    bool solo_done = false;
    {
        lock_type lock(mutex_);
        settling_ = false;
        settling_tags_.clear();
        unsettled_ -= settling_count_;
        poisons_unconfirmed_ -= settling_poisons_;
        solo_done = std::exchange(solo_in_batch_, false);
        if (!failed.empty()) core_->count_error(broker_meters::ack);
        if (!settling_discards_.empty()) end_settling_discards(failed);
        for (auto& f : failed) {
            const bool kept_one = f.what.kind == spi::settlement_kind::keep;
            if (kept_one) std::erase(settling_keeps_, f.what.item.tag);
            if (f.cause == errc::lease_lost) {
                ++stats_.leases_lost;
                if (lanes_) shard_lost();
                continue;
            }
            if (!kept_one) ++unsettled_;
            if (f.what.poison_key) ++poisons_unconfirmed_;
            ++stats_.settle_retries;
            if (f.what.item.tag == solo_tag_) solo_done = false;
            if (failed_outbox_.empty() && settle_backoff_.failures() == 0) {
                say(happening::settle_failed,
                    "settling on '" + plan_.queue() + "' failed, will be tried again: " + f.cause.message(),
                    {{"error", f.cause.message()}});
            }
            failed_outbox_.push_back(std::move(f.what));
        }
        for (const auto tag : settling_keeps_)
            kept(tag);
        if (failed.empty()) settle_backoff_.reset();
        if (!failed_outbox_.empty()) after(settle_backoff_.next(core_->random()), &consumer::settle_again);
        if (solo_done) {
            solo_settling_ = false;
            solo_requested_ = false;
        }
    }
    if (solo_done) {
        core_->gate().release();
        ask_for_solo();
    }
    pump();
}

void consumer::settle_again() {
    {
        lock_type lock(mutex_);
        // In front of what was decided later: a sequenced topic's settlements are carried out in order.
        std::ranges::move(outbox_, std::back_inserter(failed_outbox_));
        outbox_ = std::exchange(failed_outbox_, {});
        flush_now_ = true;
    }
    pump();
}

/// Sees to it that what is decided does not wait for others longer than `max_settle_wait`, nor what is ready for a
/// worker that has met a slow call. With the lock held.
void consumer::look_soon() {
    if (look_timer_ || (!waits_for_worker_ && (outbox_.empty() || settling_))) return;
    look_timer_ = true;
    ended_before_ = ended_;
    after(max_settle_wait, &consumer::look_by_age);
}

void consumer::look_by_age() {
    {
        lock_type lock(mutex_);
        look_timer_ = false;
        flush_now_ = !outbox_.empty();
        if (waits_for_worker_ && ended_ == ended_before_) pace_.stalled();
        waits_for_worker_ = false;
    }
    pump();
}

/// Gives back everything that no handler has seen, but for a last batch. With the lock held.
void consumer::release_unstarted() {
    if (batches_) {
        for (auto& item : batches_->take_rest())
            release(std::move(item));
    }
    if (lanes_) {
        for (auto& item : empty_lanes())
            release(std::move(item));
    }
    for (auto& item : ready_)
        release(std::move(item));
    ready_.clear();
    for (auto& item : suspects_)
        release(std::move(item));
    suspects_.clear();
    release_solo();
}

void consumer::release(spi::delivery item) {
    spi::settlement s;
    s.item = std::move(item);
    s.kind = spi::settlement_kind::release;
    outbox_.push_back(std::move(s));
    ++stats_.released;
}

/// Gives the suspect back whose turn it is, if it was not started.
void consumer::release_solo() {
    if (!solo_ready_) return;
    if (lanes_) lanes_->finish(lane_of_suspect(solo_ready_->tag));
    release(std::move(*solo_ready_));
    solo_ready_.reset();
    solo_settling_ = true;  // its turn ends when the release is settled
}

void consumer::renew_leases() {
    std::shared_ptr<spi::subscription> subscription;
    std::vector<std::uint64_t> tags;
    {
        lock_type lock(mutex_);
        if (phase_ == phase::finished || !subscription_) return;
        subscription = subscription_;
        tags = held_tags();
    }
    after(core_->capabilities().lease / 3, &consumer::renew_leases);
    if (tags.empty() && !lanes_) return;
    subscription->extend(std::move(tags), [self = shared_from_this()](auto lost) {
        if (!lost.empty()) self->leases_lost(lost);
    });
}

std::vector<std::uint64_t> consumer::held_tags() const {
    auto tags = settling_tags_;
    for (const auto& item : ready_)
        tags.push_back(item.tag);
    for (const auto& item : suspects_)
        tags.push_back(item.tag);
    if (batches_) batches_->for_each([&](const spi::delivery& item) { tags.push_back(item.tag); });
    if (lanes_) lanes_->for_each_held([&](const spi::delivery& item) { tags.push_back(item.tag); });
    for (const auto* list : {&outbox_, &failed_outbox_}) {
        for (const auto& s : *list)
            tags.push_back(s.item.tag);
    }
    for (const auto& c : calls_) {
        const bool held = c->now == call::phase::running || c->now == call::phase::cancelling ||
                          (lanes_ && c->now == call::phase::abandoned);
        if (held) c->for_each_item([&](const spi::delivery& item) { tags.push_back(item.tag); });
    }
    if (solo_item_) tags.push_back(solo_item_->tag);
    if (solo_ready_) tags.push_back(solo_ready_->tag);
    return tags;
}

/// Whether one of these is still held, and not with the driver to be settled: that says itself if it came too late.
/// With the lock held.
bool consumer::holds_any(const std::unordered_set<std::uint64_t>& tags) const {
    const std::unordered_set<std::uint64_t> settling(settling_tags_.begin(), settling_tags_.end());
    return std::ranges::any_of(held_tags(), [&](auto tag) { return tags.contains(tag) && !settling.contains(tag); });
}

/// Drops what now belongs to another consumer; running calls are told to stop, and the driver refuses
/// their settlement.
void consumer::leases_lost(const std::vector<std::uint64_t>& lost) {
    const std::unordered_set<std::uint64_t> gone(lost.begin(), lost.end());
    std::size_t found = 0;  // what was settled meanwhile is not lost
    {
        lock_type lock(mutex_);
        if (lanes_) {
            if (holds_any(gone)) shard_lost();
            lock.unlock();
            return pump();
        }
        const auto drop = [&](std::deque<spi::delivery>& from) {
            found += std::erase_if(from, [&](const auto& item) { return gone.contains(item.tag); });
        };
        drop(ready_);
        drop(suspects_);
        if (batches_) found += batches_->drop([&](const spi::delivery& item) { return gone.contains(item.tag); });
        unsettled_ -= found;
        stats_.leases_lost += found;
        for (const auto& c : calls_) {
            if (c->now == call::phase::idle) continue;
            std::size_t lost_of_call = 0;
            c->for_each_item([&](const spi::delivery& item) { lost_of_call += gone.contains(item.tag) ? 1U : 0U; });
            if (lost_of_call > 0) c->state.stop.request_stop();
            found += lost_of_call;
        }
    }
    if (found > 0) {
        say(happening::leases_lost,
            std::to_string(found) + " leases on '" + plan_.queue() + "' were lost to another consumer",
            {{"count", static_cast<std::int64_t>(found)}});
    }
    pump();
}

}  // namespace shove::detail
