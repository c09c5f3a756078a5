#include <algorithm>

#include "broker_core.hpp"
#include "consumer.hpp"

// A sequenced topic's consumer: one shard, its keys in lanes. A message never moves to wait: it stays unsettled in
// its place, its lane is closed, and the driver notes when it may be called again (G2).

namespace shove::detail {
namespace {

/// A suspect that could not be isolated, for one, is tried again after this.
constexpr auto lane_pause = milliseconds(1'000);

/// So many messages are on their way from memory while one is sorted into its lane.
constexpr std::size_t load_ahead = 8;

}  // namespace

/// Takes deliveries over. With the lock held.
void consumer::take_into_lanes(std::vector<spi::delivery> batch) {
    if (shard_lost_) {  // of the old hold or of a new one: not ours to start yet
        for (auto& item : batch)
            release(std::move(item));
        return;
    }
    const auto now = core_->clock().now();
    for (std::size_t i = 0; i < batch.size(); ++i) {
        // A shard's messages lie scattered among those of the others.
        if (i + load_ahead < batch.size()) batch[i + load_ahead].msg.prefetch();
        auto& item = batch[i];
        steady_time opens_at{};
        if (item.not_before != wall_time{}) {
            const auto wait = item.not_before - core_->clock().wall();
            if (wait.count() > 0) opens_at = now + std::chrono::ceil<milliseconds>(wait);
        }
        lanes_->add(std::move(item), opens_at);
    }
    watch_lanes();
}

/// The next message to call the handler with. With the lock held.
call* consumer::claim_from_lanes() {
    while (lanes_->startable() && !core_->gate().closed()) {
        auto next = lanes_->start();
        if (next.item.poisoned) {
            decide::ended how;
            how.how = decide::ending::poisoned;
            how.text = "an earlier message of its key failed for good";
            settle_in_lane(next.of, std::move(next.item), std::move(how), false);
            continue;
        }
        if (is_suspect(next.item)) {
            suspect_lanes_[next.item.tag] = next.of;
            suspects_.push_back(std::move(next.item));
            continue;
        }
        auto* c = begin_call(std::move(next.item), false);
        c->lane = next.of;
        return c;
    }
    return nullptr;
}

/// Decides, queues the settlement and moves the lane on. With the lock held.
void consumer::settle_in_lane(decide::lanes::lane* of, spi::delivery item, decide::ended how, bool solo) {
    if (solo) solo_settling_ = true;
    if (calls_measured()) meter_outcome(how);
    if (how.how == decide::ending::acked) {
        ++stats_.acked;
        lanes_->finish(of);
        outbox_.emplace_back().item = std::move(item);
        return;
    }
    const bool has_key = !item.msg.key().value_or("").empty();
    auto verdict = decide::settle(policy_, std::move(item), how, core_->clock().wall());
    count(verdict.fate, how);
    if (calls_measured()) meter_fate(verdict, how);
    if (!verdict.reason.empty()) say_lost(verdict, how);
    auto& what = verdict.what;
    if (what.kind == spi::settlement_kind::delay) {
        what.kind = spi::settlement_kind::keep;
        auto again = copy_of(what.item);
        again.redelivered = true;
        again.not_before = core_->clock().wall() + what.delay;
        if (shard_lost_ || phase_ != phase::running) {
            lanes_->finish(of);
            outbox_.push_back(std::move(what));
            if (!shard_lost_) release(std::move(again));
            return;
        }
        keeps_[what.item.tag] = {of, what.delay};
        lanes_->put_back(of, std::move(again));
    } else {
        const bool failed = verdict.fate == decide::fate::dead_lettered || verdict.fate == decide::fate::discarded;
        const bool poisons = plan_.topology->sequencing->on_failure == sequence_failure::fail_all;
        if (failed && poisons && has_key && how.how != decide::ending::poisoned) {
            lanes_->poison(of);
            say(happening::key_poisoned,
                "a key of '" + place_ + "' is poisoned: its messages are dead-lettered from now on",
                {{"message_id", what.item.msg.id()}});
            if (core_->capabilities().keeps_keys) {
                what.poison_key = true;
                ++poisons_unconfirmed_;
            }
        }
        lanes_->finish(of);
    }
    outbox_.push_back(std::move(what));
}

/// The driver has noted the delay: it begins. With the lock held.
void consumer::kept(std::uint64_t tag) {
    const auto at = keeps_.find(tag);
    if (at == keeps_.end()) return;
    lanes_->reopen(at->second.of, core_->clock().now() + at->second.delay);
    keeps_.erase(at);
    watch_lanes();
}

/// Has lanes opened when their time comes. With the lock held.
void consumer::watch_lanes() {
    const auto due = lanes_->next_due();
    if (!due || (lane_timer_ != 0 && lane_due_ <= *due)) return;
    if (lane_timer_ != 0) core_->clock().cancel(lane_timer_);
    lane_due_ = *due;
    lane_timer_ = core_->clock().call_at(*due, [weak = weak_from_this(), due = *due] {
        if (auto self = weak.lock()) self->open_lanes(due);
    });
}

void consumer::open_lanes(steady_time planned) {
    {
        lock_type lock(mutex_);
        if (lane_due_ == planned) lane_timer_ = 0;
        lanes_->open_due(std::max(planned, core_->clock().now()));
        watch_lanes();
    }
    pump();
}

/// A suspect cannot run alone now: its lane waits a little. With the lock held.
void consumer::postpone_suspect(spi::delivery item) {
    const auto at = suspect_lanes_.find(item.tag);
    auto* of = at->second;
    suspect_lanes_.erase(at);
    lanes_->put_back(of, std::move(item));
    lanes_->reopen(of, core_->clock().now() + lane_pause);
    watch_lanes();
}

decide::lanes::lane* consumer::lane_of_suspect(std::uint64_t tag) {
    const auto at = suspect_lanes_.find(tag);
    if (at == suspect_lanes_.end()) return nullptr;
    auto* of = at->second;
    suspect_lanes_.erase(at);
    return of;
}

/// Everything that was not started, in order within each key. With the lock held.
std::vector<spi::delivery> consumer::empty_lanes() {
    auto all = lanes_->take_all();
    keeps_.clear();
    for (auto& item : suspects_) {
        lanes_->finish(lane_of_suspect(item.tag));
        all.push_back(std::move(item));
    }
    suspects_.clear();
    return all;
}

/// The shard belongs to another consumer: nothing more is started, what runs is told to stop, and once
/// that has returned the shard is asked for again. With the lock held.
void consumer::shard_lost() {
    if (shard_lost_) return;
    shard_lost_ = true;
    const auto dropped = empty_lanes();
    unsettled_ -= dropped.size();
    stats_.leases_lost += dropped.size();
    release_solo();
    for (const auto& c : calls_) {
        if (c->now != call::phase::idle) c->state.stop.request_stop();
    }
    say(happening::shard_lost, "the shard '" + place_ + "' was lost to another consumer; asking for it again");
}

/// Whether a lost shard may be asked for again. With the lock held.
bool consumer::shard_settled() const {
    return running_ == 0 && !settling_ && outbox_.empty() && failed_outbox_.empty() && !solo_requested_;
}

/// Reads on while there is too little to do: too few messages, or too few keys for the calls that may run at once.
/// What is read early only lies about: the shard's messages are the consumer's anyway.
bool consumer::lanes_want_more() const {
    if (shard_lost_ && !shard_settled()) return false;
    const auto& how = plan_.options;
    const auto calls = coroutine_ ? concurrency_ : max_workers_;
    const bool short_of_work = lanes_->open_lanes() + running_ < calls || lanes_->workable() < how.prefetch;
    return short_of_work && !lanes_->crowded() && unsettled_ < how.reorder_window &&
           lanes_->held_bytes() < how.reorder_window_bytes;
}

}  // namespace shove::detail
