#include "partition.hpp"

#include <algorithm>
#include <limits>

namespace shove::kafka_backend {

namespace {

std::unique_ptr<spi::history> copy_of(const std::unique_ptr<spi::history>& past) {
    return past ? std::make_unique<spi::history>(*past) : nullptr;
}

}  // namespace

owned_partition::owned_partition(partition_place where, std::uint16_t slot, std::optional<std::int64_t> position,
                                 std::optional<commit_note> note)
    : where_(std::move(where)), slot_(slot) {
    auto begun = take_over(std::move(note), position.value_or(0));
    note_ = std::move(begun.mine);
    settled_before_ = std::exchange(note_.settled, {});
    note_.reach = position.value_or(0);  // nothing is handed out before this owner has said so
    if (position) window_.emplace(*position, std::move(settled_before_));
}

spi::delivery owned_partition::made_ready(std::int64_t offset, incoming what) const {
    spi::delivery made;
    made.msg = std::move(what.msg);
    made.tag = tag_of(offset);
    made.past = std::move(what.past);
    made.redelivered = where_.handled || offset < note_.handled_until;
    if (where_.sequenced) made.fence = note_.fence;
    const auto past = [&]() -> spi::history& {
        if (!made.past) made.past = std::make_unique<spi::history>();
        return *made.past;
    };
    const auto known = note_.kept.find(offset);
    if (known == note_.kept.end()) {
        if (offset < note_.suspect_until) ++past().crashes;
        return made;
    }
    const auto& one = known->second;
    const auto crashes = one.past.crashes + (where_.sequenced ? 0 : past().crashes);
    if (one.past.retries > 0 || !one.past.last_error.empty()) past() = one.past;
    past().crashes = crashes;
    made.not_before = one.not_before;
    made.redelivered = true;
    return made;
}

void owned_partition::receive(std::int64_t offset, incoming what) {
    if (!window_) {
        window_.emplace(offset, std::move(settled_before_));
        note_.reach = std::max(note_.reach, offset);
    }
    if (!window_->receive(offset)) return;
    const auto due = what.due;
    auto item = made_ready(offset, std::move(what));
    if (!where_.waits) return insert_ready(std::move(item));
    waiting_.emplace(due, std::move(item));
}

std::optional<wall_time> owned_partition::make_due(wall_time now) {
    while (!waiting_.empty() && waiting_.begin()->first <= now) {
        ready_.push_back(std::move(waiting_.begin()->second));
        waiting_.erase(waiting_.begin());
    }
    if (waiting_.empty()) return std::nullopt;
    return waiting_.begin()->first;
}

void owned_partition::insert_ready(spi::delivery item) {
    if (where_.waits) return ready_.push_front(std::move(item));  // those are in the order in which they are due
    if (ready_.empty() || ready_.back().tag < item.tag) {
        ready_.push_back(std::move(item));
        return;
    }
    const auto at = std::ranges::upper_bound(ready_, item.tag, {}, &spi::delivery::tag);
    ready_.insert(at, std::move(item));
}

void owned_partition::hand_first(std::uint64_t receiver, std::vector<spi::delivery>& into) {
    auto& item = ready_.front();
    handed_[offset_of(item.tag)] = {item.msg, copy_of(item.past), receiver};
    into.push_back(std::move(item));
    ready_.pop_front();
}

bool owned_partition::settle(std::uint64_t tag) {
    const auto offset = offset_of(tag);
    if (handed_.erase(offset) == 0) return false;
    window_->settle(offset);
    if (!note_.kept.empty()) note_.kept.erase(offset);
    if (note_.alone == offset) note_.alone.reset();
    ++settled_since_commit_;
    touch();
    return true;
}

void owned_partition::put_back(spi::delivery item) {
    const auto offset = offset_of(item.tag);
    if (handed_.erase(offset) == 0) return;
    const auto kept = note_.kept.find(offset);
    if (kept != note_.kept.end()) item.not_before = kept->second.not_before;
    if (note_.alone == offset) {
        note_.alone.reset();
        touch();
    }
    insert_ready(std::move(item));
}

void owned_partition::take_back(std::uint64_t receiver) {
    for (auto at = handed_.begin(); at != handed_.end();) {
        if (at->second.receiver != receiver) {
            ++at;
            continue;
        }
        spi::delivery item;
        item.tag = tag_of(at->first);
        item.msg = std::move(at->second.msg);
        item.past = std::move(at->second.past);
        item.redelivered = true;
        if (where_.sequenced) item.fence = note_.fence;
        if (const auto kept = note_.kept.find(at->first); kept != note_.kept.end()) {
            item.past = std::make_unique<spi::history>(kept->second.past);
            item.not_before = kept->second.not_before;
        }
        at = handed_.erase(at);
        insert_ready(std::move(item));
    }
}

void owned_partition::keep(std::uint64_t tag, const spi::history& past, wall_time not_before) {
    note_.kept[offset_of(tag)] = {not_before, past};
    if (note_.alone == offset_of(tag)) note_.alone.reset();
    touch();
}

void owned_partition::isolate(std::uint64_t tag) {
    note_.alone = offset_of(tag);
    touch();
}

void owned_partition::change_hands() {
    ++note_.fence;
    for (auto& item : ready_)
        item.fence = note_.fence;
    reserved_ = std::numeric_limits<std::int64_t>::min();
    touch();
}

void owned_partition::reserve(std::int64_t more) {
    if (!window_) return;
    note_.reach = std::max(note_.reach, window_->next() + more);
    touch();
}

std::int64_t owned_partition::reserve_left() const noexcept {
    return window_ ? reserved_ - window_->next() : 0;
}

std::optional<owned_partition::commit> owned_partition::to_commit(bool leaving) {
    if (!window_) return std::nullopt;
    std::erase_if(note_.kept, [&](const auto& one) { return one.first < window_->position(); });
    auto note = note_;
    note.clean = leaving;
    if (leaving) {
        // What a call still runs for may be handled, though its owner has left in order.
        if (!handed_.empty()) note.handled_until = std::max(note.handled_until, note.reach);
        note.alone.reset();
    }
    // What was not received yet reaches beyond what the window knows.
    note.settled = window_->settled(commit_note::most_bytes);
    auto text = note.write(window_->position());
    if (!text) return std::nullopt;
    return commit{window_->position(), std::move(*text), revision_, note_.reach, leaving};
}

void owned_partition::committed(const commit& what) {
    committed_ = std::max(committed_, what.revision);
    reserved_ = what.reach;
    if (!dirty()) settled_since_commit_ = 0;
}

}  // namespace shove::kafka_backend
