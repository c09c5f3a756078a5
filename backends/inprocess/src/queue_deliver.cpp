#include "queue.hpp"

#include <algorithm>

namespace shove::in_memory {

bool queue::attach(receiver& who) {
    std::lock_guard guard(lock_);
    if (closed_) return false;
    who.open = true;
    receivers_.push_back(&who);
    ++idle_;
    return true;
}

void queue::detach(receiver& who) {
    completions due;
    {
        std::lock_guard guard(lock_);
        if (!who.open) return;
        who.open = false;
        std::erase(receivers_, &who);
        if (who.unsettled == 0) --idle_;
        turns_.leave(who);
        if (who.waits())
            due.add(std::move(who.done), error(errc::closed, "the subscription to '" + name_ + "' was closed"));
        pass_on();
        match(due);
    }
    due.run();
}

void queue::receive(receiver& who, std::size_t max, receive_done&& done) {
    receive_result got;
    {
        std::lock_guard guard(lock_);
        if (closed_ || !who.open) {
            got = error(errc::closed, "the subscription to '" + name_ + "' was closed");
        } else if (max == 0 || who.waits()) {
            got = error(errc::invalid_argument, "one receive at a time, of at least one message");
        } else if (!may_take(who)) {  // `pass_on` lines it up
            who.wanted = max;
            who.done = std::move(done);
            return;
        } else if (ready_.empty() || who.spare() == 0) {
            who.wanted = max;
            who.done = std::move(done);
            return turns_.join(who);
        } else {
            got = hand_out(who, max, 1 + idle_others(who));
        }
    }
    done(std::move(got));
}

void queue::cancel(receiver& who) {
    completions due;
    {
        std::lock_guard guard(lock_);
        turns_.leave(who);
        if (who.waits()) due.add(std::move(who.done), explain(errc::cancelled));
    }
    due.run();
}

bool queue::may_take(receiver& who) {
    if (!who.exclusive || holder_ == &who) return true;
    if (holder_) return false;
    holder_ = &who;
    ++fence_;
    return true;
}

void queue::pass_on() {
    // What a closed holder still has in hand keeps the queue its own: its keys must not be overtaken.
    if (!holder_ || holder_->open || holder_->unsettled > 0) return;
    holder_ = nullptr;
    const auto next = std::find_if(receivers_.begin(), receivers_.end(),
                                   [](const receiver* each) { return each->exclusive && each->waits(); });
    if (next == receivers_.end() || !may_take(**next)) return;
    turns_.join(**next);
}

void queue::poison(std::string_view key) {
    std::lock_guard guard(lock_);
    poisoned_.emplace(key, clock_.wall());
}

void queue::list_poisoned(std::vector<spi::poisoned_key>& into) {
    std::lock_guard guard(lock_);
    for (const auto& [key, since] : poisoned_)
        into.push_back({name_, key, since});
}

bool queue::unpoison(std::string_view key) {
    std::lock_guard guard(lock_);
    const auto at = poisoned_.find(key);
    if (at == poisoned_.end()) return false;
    poisoned_.erase(at);
    return true;
}

/// Receivers that have nothing to do and will ask soon: a short queue is shared with them.
std::size_t queue::idle_others(const receiver& who) const noexcept {
    return who.unsettled == 0 ? idle_ - 1 : idle_;
}

std::vector<spi::delivery> queue::hand_out(receiver& who, std::size_t max, std::size_t sharers) {
    const std::size_t share = (ready_.size() + sharers - 1) / sharers;
    const std::size_t count = std::min({share, max, who.spare()});
    std::vector<spi::delivery> batch;
    batch.reserve(count);
    const auto fence = who.exclusive ? std::optional(fence_) : std::nullopt;
    ready_.take_front(count, [&](place where, entry& item) {
        auto& d = batch.emplace_back();
        d.msg = std::move(item.msg);
        d.tag = where.tag();
        d.deliveries = 1;
        d.fence = fence;
        if (!poisoned_.empty()) d.poisoned = poisoned_.contains(d.msg.key().value_or(""));
        if (!item.known) return;
        d.not_before = item.known->not_before;
        d.deliveries += item.known->deliveries;
        d.redelivered = item.known->redelivered;
        d.past = std::move(item.known->past);
        item.known.reset();
    });
    if (who.unsettled == 0) --idle_;
    who.unsettled += count;
    in_flight_ += count;
    return batch;
}

std::vector<spi::failed_settlement> queue::settle(receiver& who, std::vector<spi::settlement>& batch) {
    std::vector<spi::failed_settlement> failed;
    completions due;
    {
        std::lock_guard guard(lock_);
        // What is kept stays in flight; a message may be kept and given back in one batch.
        const auto stays = [](const auto& what) { return what.kind == spi::settlement_kind::keep; };
        const auto leaving = batch.size() - static_cast<std::size_t>(std::count_if(batch.begin(), batch.end(), stays));
        const errc refusal = closed_ ? errc::closed : leaving > who.unsettled ? errc::lease_lost : errc::ok;
        std::size_t gone = 0;
        for (auto& what : batch) {
            const bool kept = stays(what);
            if (refusal != errc::ok) {
                failed.push_back({std::move(what), explain(refusal)});
            } else if (!carry_out(what)) {
                failed.push_back({std::move(what), explain(errc::invalid_argument)});
            } else if (!kept) {
                ++gone;
            }
        }
        released(who, gone);
        match(due);
    }
    tell_feeder();
    due.run();
    return failed;
}

bool queue::carry_out(spi::settlement& what) {
    auto& item = what.item;
    if (what.kind == spi::settlement_kind::complete) {
        room_.leave(1, room_.weigh(item.msg));
        return true;
    }
    if (!item.msg) return false;
    if (what.kind == spi::settlement_kind::keep) return true;  // the engine has it, and in process nobody takes over
    if (what.kind == spi::settlement_kind::release) {
        const std::uint32_t before = std::max(item.deliveries, 1u) - 1;
        auto known = make_record(std::move(item.past), before, item.redelivered);
        if (known) known->not_before = item.not_before;
        ready_.put_back(place::of(item.tag), {std::move(item.msg), std::move(known)});
        return true;
    }
    auto known = make_record(std::move(item.past), item.deliveries, true);
    if (what.kind == spi::settlement_kind::delay && what.delay > milliseconds(0)) {
        delayed_.push(after(what.delay), {std::move(item.msg), std::move(known)});
    } else {
        ready_.push_back(std::move(item.msg), std::move(known));
    }
    return true;
}

void queue::released(receiver& who, std::size_t count) {
    if (count == 0) return;
    in_flight_ -= count;
    who.unsettled -= count;
    if (who.unsettled == 0 && who.open) ++idle_;
    if (!who.exclusive || holder_ == &who) turns_.join(who);
    pass_on();
}

void queue::forget(receiver& who, std::size_t messages, std::size_t bytes) {
    completions due;
    {
        std::lock_guard guard(lock_);
        room_.leave(messages, bytes);
        released(who, messages);
        match(due);
    }
    tell_feeder();
    due.run();
}

}  // namespace shove::in_memory
