#include "lanes.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace shove::decide {

lanes::lanes(std::size_t crowded_at) : crowded_at_(std::max<std::size_t>(1, crowded_at)) {}
lanes::~lanes() = default;

lanes::lane& lanes::lane_of(std::string_view key) {
    const auto hash = std::hash<std::string_view>()(key);
    if (const auto known = lanes_.find(key_ref{key, hash}); known != lanes_.end()) return *known->second;
    if (spare_.empty()) spare_.push_back(pool_.emplace_back(std::make_unique<lane>()).get());
    auto& made = *spare_.back();
    spare_.pop_back();
    made.key.assign(key);
    made.hash = hash;
    lanes_.emplace(made.ref(), &made);
    return made;
}

std::uint32_t lanes::take_slot() {
    if (free_slots_.empty()) {
        slots_.emplace_back();
        return static_cast<std::uint32_t>(slots_.size() - 1);
    }
    const auto at = free_slots_.back();
    free_slots_.pop_back();
    return at;
}

void lanes::add(spi::delivery item, steady_time opens_at) {
    auto& of = lane_of(item.msg.key().value_or(""));
    if (!poisoned_.empty() && poisoned_.contains(of.key)) item.poisoned = true;
    ++held_;
    held_bytes_ += item.msg.payload().size();
    const auto at = take_slot();
    slots_[at].item = std::move(item);
    slots_[at].opens_at = opens_at;
    slots_[at].next = none;
    if (of.last == none) {
        of.first = at;
    } else {
        slots_[of.last].next = at;
    }
    of.last = at;
    longer(of);
    if (of.now == lane::state::idle) open_first(of);
}

/// A lane whose first message is there and not started.
void lanes::open_first(lane& of) {
    const auto opens_at = slots_[of.first].opens_at;
    if (opens_at == steady_time{}) {
        open(of);
    } else {
        parked_ += of.length;
        close_until(of, opens_at);
    }
}

void lanes::open(lane& of) {
    of.now = lane::state::open;
    open_.push_back(&of);
}

void lanes::close_until(lane& of, steady_time when) {
    of.now = lane::state::waiting;
    due_.emplace(when, &of);
}

lanes::started lanes::start() {
    auto& of = *open_.front();
    open_.pop_front();
    of.now = lane::state::started;
    if (!open_.empty()) slots_[open_.front()->first].item.msg.prefetch();  // the next one is on its way meanwhile
    const auto at = of.first;
    started made{std::move(slots_[at].item), &of};
    of.first = slots_[at].next;
    if (of.first == none) of.last = none;
    free_slots_.push_back(at);
    --held_;
    held_bytes_ -= made.item.msg.payload().size();
    shorter(of);
    return made;
}

void lanes::longer(lane& of) {
    if (of.now == lane::state::waiting || of.now == lane::state::back) ++parked_;
    if (++of.length == crowded_at_) ++crowded_lanes_;
}

void lanes::shorter(lane& of) {
    if (of.length-- == crowded_at_) --crowded_lanes_;
}

void lanes::finish(lane* of) {
    if (of->first != none) return open_first(*of);
    of->now = lane::state::idle;
    retire(*of);
}

void lanes::retire(lane& of) {
    lanes_.erase(of.ref());
    spare_.push_back(&of);
}

void lanes::put_back(lane* of, spi::delivery item) {
    ++held_;
    held_bytes_ += item.msg.payload().size();
    const auto at = take_slot();
    slots_[at].item = std::move(item);
    slots_[at].opens_at = {};
    slots_[at].next = of->first;
    of->first = at;
    if (of->last == none) of->last = at;
    longer(*of);
    of->now = lane::state::back;
    parked_ += of->length;
}

void lanes::reopen(lane* of, steady_time when) {
    if (of->now != lane::state::back) return;
    close_until(*of, when);
}

bool lanes::open_due(steady_time now) {
    bool some = false;
    while (!due_.empty() && due_.begin()->first <= now) {
        parked_ -= due_.begin()->second->length;
        open(*due_.begin()->second);
        due_.erase(due_.begin());
        some = true;
    }
    return some;
}

std::optional<steady_time> lanes::next_due() const {
    if (due_.empty()) return std::nullopt;
    return due_.begin()->first;
}

void lanes::poison(lane* of) {
    if (of->key.empty()) return;
    poisoned_.emplace(of->key);
    for (auto at = of->first; at != none; at = slots_[at].next)
        slots_[at].item.poisoned = true;
}

std::vector<spi::delivery> lanes::take_all() {
    std::vector<spi::delivery> all;
    all.reserve(held_);
    std::vector<lane*> done;
    for (const auto& [key, of] : lanes_) {
        for (auto at = of->first; at != none; at = slots_[at].next)
            all.push_back(std::move(slots_[at].item));
        of->first = of->last = none;
        of->length = 0;
        if (of->now != lane::state::started) done.push_back(of);  // a started one says later how it ended
    }
    for (auto* of : done) {
        of->now = lane::state::idle;
        retire(*of);
    }
    slots_.clear();
    free_slots_.clear();
    open_.clear();
    due_.clear();
    held_ = held_bytes_ = parked_ = crowded_lanes_ = 0;
    return all;
}

}  // namespace shove::decide
