#include "queue.hpp"

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

/// Receivers that have nothing to do and will ask soon: a short queue is shared with them.
std::size_t queue::idle_others(const receiver& who) const noexcept {
    return who.unsettled == 0 ? idle_ - 1 : idle_;
}

std::vector<spi::delivery> queue::hand_out(receiver& who, std::size_t max, std::size_t sharers) {
    const std::size_t share = (ready_.size() + sharers - 1) / sharers;
    const std::size_t count = std::min({share, max, who.spare()});
    std::vector<spi::delivery> batch;
    batch.reserve(count);
    ready_.take_front(count, [&batch](place where, entry& item) {
        auto& d = batch.emplace_back();
        d.msg = std::move(item.msg);
        d.tag = where.tag();
        d.deliveries = 1;
        if (!item.known) return;
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
        const errc refusal = closed_ ? errc::closed : batch.size() > who.unsettled ? errc::lease_lost : errc::ok;
        for (auto& what : batch) {
            if (refusal != errc::ok) {
                failed.push_back({std::move(what), explain(refusal)});
            } else if (!carry_out(what)) {
                failed.push_back({std::move(what), explain(errc::invalid_argument)});
            }
        }
        released(who, batch.size() - failed.size());
        match(due);
    }
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
    if (what.kind == spi::settlement_kind::release) {
        const std::uint32_t before = std::max(item.deliveries, 1u) - 1;
        ready_.put_back(place::of(item.tag),
                        {std::move(item.msg), make_record(std::move(item.past), before, item.redelivered)});
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
    turns_.join(who);
}

void queue::forget(receiver& who, std::size_t messages, std::size_t bytes) {
    completions due;
    {
        std::lock_guard guard(lock_);
        room_.leave(messages, bytes);
        released(who, messages);
        match(due);
    }
    due.run();
}

}  // namespace shove::in_memory
