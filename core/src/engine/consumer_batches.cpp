#include <algorithm>

#include "broker_core.hpp"
#include "call_answer.hpp"
#include "consumer.hpp"

// A consumer that handles batches: what arrives is collected until a batch is due; one call takes it; each message
// is settled by itself, so that its budget, its delay and its fate are its own.

namespace shove::detail {

bool consumer::batch_due() const noexcept {
    return !batches_->empty() && (batches_->full() || batch_aged_ || phase_ == phase::draining);
}

/// The next batch to call the handler with. With the lock held.
call* consumer::claim_batch() {
    if (!batch_due() || core_->gate().closed()) return nullptr;
    auto* c = begin_call({}, false);
    batches_->take([&](spi::delivery item) { add_member(*c, std::move(item)); });
    batch_aged_ = false;
    watch_batches();
    if (calls_measured()) meter_begun(*c);
    return c;
}

void consumer::add_member(call& c, spi::delivery item) {
    if (c.size == c.members.size()) {
        auto& fresh = c.members.emplace_back();
        fresh.queue = c.state.queue;
        fresh.clock = c.state.clock;
    }
    auto& member = c.members[c.size++];
    member.item = std::move(item);
    if (member.stop != c.state.stop) member.stop = c.state.stop;
}

/// Has a batch handed over when its first message is old enough. With the lock held.
void consumer::watch_batches() {
    const auto due = batches_->next_due();
    if (!due || batch_timer_ != 0) return;  // a timer that comes too early looks again
    batch_timer_ = core_->clock().call_at(*due, [weak = weak_from_this(), due = *due] {
        if (auto self = weak.lock()) self->look_at_batches(due);
    });
}

void consumer::look_at_batches(steady_time planned) {
    {
        lock_type lock(mutex_);
        batch_timer_ = 0;
        const auto due = batches_->next_due();
        batch_aged_ = due && *due <= std::max(planned, core_->clock().now());
        if (!batch_aged_) watch_batches();
    }
    pump();
}

/// Refuses what the handler must not see. True if it is to be called, with the admitted. Without the lock.
bool consumer::admit(call& c, call_end& end) const {
    c.admitted.clear();
    c.answer.all = ack;
    c.answer.others.clear();
    const auto now = core_->clock().wall();
    for (std::size_t i = 0; i < c.size; ++i) {
        auto& member = c.members[i];
        if (auto refused = decide::refuse_unhandled(policy_, limits_, member.item, now)) {
            end.others.push_back({i, std::move(*refused)});
        } else {
            c.admitted.push_back(&member);
        }
    }
    end.called = !c.admitted.empty();
    return end.called;
}

/// Takes a handler's answer: its indexes are those of the admitted members.
void consumer::take_answer(call& c, const std::exception_ptr& thrown, call_end& end) {
    std::size_t undecodable = 0;
    for (auto& [index, how] : c.answer.others) {
        if (thrown && !how.undecodable) continue;
        if (how.undecodable) ++undecodable;
        const auto member = static_cast<std::size_t>(c.admitted[index] - c.members.data());
        end.others.push_back({member, ended_of(std::move(how))});
    }
    std::ranges::sort(end.others, {}, &call_end::member::index);
    end.called = undecodable < c.admitted.size();
    end.all = thrown ? ended_of(thrown) : ended_of(call_result{std::move(c.answer.all)});
}

call_end consumer::run_batch(call& c, decode_scratch& scratch) const {
    call_end end;
    if (!admit(c, end)) return end;
    std::exception_ptr thrown;
    try {
        plan_.handler->call_batch({c.admitted, c.state, c.answer}, scratch);
    } catch (...) {
        thrown = std::current_exception();
    }
    take_answer(c, thrown, end);
    return end;
}

/// Settles each message of a batch. With the lock held.
void consumer::settle_batch(call& c, call_end end) {
    auto other = end.others.begin();
    for (std::size_t i = 0; i < c.size; ++i) {
        auto item = std::exchange(c.members[i].item, {});
        const bool differs = other != end.others.end() && other->index == i;
        settle_as(std::move(item), differs ? std::move(other->how) : end.all, c.solo);
        if (differs) ++other;
    }
    c.size = 0;
}

}  // namespace shove::detail
