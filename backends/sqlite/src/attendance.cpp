#include "attendance.hpp"

#include <algorithm>
#include <utility>

namespace shove::sqlite_backend {

bool attendance::line::wanted() const {
    return hopeful && std::any_of(waiting.begin(), waiting.end(), [](const auto& who) { return who->room() > 0; });
}

void attendance::wait(std::shared_ptr<reader> who) {
    who->waiting = true;
    auto& at = lines_[who->queue];
    if (at.waiting.empty()) at.hopeful = true;
    at.waiting.push_back(std::move(who));
}

bool attendance::leave(const std::shared_ptr<reader>& who) {
    if (!std::exchange(who->waiting, false)) return false;
    const auto at = lines_.find(who->queue);
    std::erase(at->second.waiting, who);
    if (at->second.waiting.empty()) lines_.erase(at);
    return true;
}

bool attendance::anybody() const noexcept {
    return !lines_.empty();
}

void attendance::hope(const queue_state& queue) {
    const auto at = lines_.find(const_cast<queue_state*>(&queue));
    if (at != lines_.end()) at->second.hopeful = true;
}

void attendance::hope_all() {
    for (auto& [queue, at] : lines_)
        at.hopeful = true;
}

std::vector<std::shared_ptr<reader>> attendance::dismiss() {
    std::vector<std::shared_ptr<reader>> all;
    for (auto& [queue, at] : std::exchange(lines_, {})) {
        for (auto& who : at.waiting) {
            who->waiting = false;
            all.push_back(std::move(who));
        }
    }
    return all;
}

namespace {

bool may_hold(const queue_state& queue, const reader& who) {
    return !who.exclusive || queue.holder == nullptr || queue.holder == &who;
}

/// Takes the shard for an exclusive reader; gives its fence. Nothing: another reader has it.
std::optional<std::int64_t> take_shard(store& file, queue_state& queue, const reader& who) {
    if (!may_hold(queue, who)) return std::nullopt;
    const bool anew = queue.holder != &who;
    auto fence = file.shards.take(queue.group, file.self(), anew, file.lease_end());
    if (fence) queue.holder = &who;
    return fence;
}

}  // namespace

bool open_to_some(store& file, queue_state& queue, const attendance::line& at) {
    return std::any_of(at.waiting.begin(), at.waiting.end(), [&](const auto& who) {
        return !who->exclusive || (may_hold(queue, *who) && file.shards.open_to(queue.group, file.self()));
    });
}

std::vector<attendance::served> serve(store& file, claims& claiming, queue_state& queue, attendance::line& at) {
    std::vector<attendance::served> batch;
    file.queues.refresh(queue);
    std::vector<std::shared_ptr<reader>> ready;
    std::size_t wanted = 0;
    for (const auto& who : at.waiting) {
        if (who->room() == 0 || !may_hold(queue, *who)) continue;
        wanted += who->room();
        ready.push_back(who);
    }
    // Readers that wait together share what is there, so that one does not sit on work for all.
    std::size_t share = wanted;
    if (ready.size() > 1) {
        const auto there = static_cast<std::size_t>(claiming.available(queue, static_cast<std::int64_t>(wanted)));
        share = std::max<std::size_t>(1, (there + ready.size() - 1) / ready.size());
    }
    for (auto& who : ready) {
        std::optional<std::int64_t> fence;
        if (who->exclusive) {
            fence = take_shard(file, queue, *who);
            if (!fence) continue;
        }
        auto taken = claiming.take(queue, std::min(share, who->room()), fence);
        if (taken.deliveries.empty()) break;
        batch.push_back({std::move(who), std::move(taken)});
    }
    return batch;
}

void hand_over(attendance& readers, std::vector<attendance::served> batch) {
    for (auto& [who, what] : batch) {
        readers.leave(who);
        for (const auto& lease : what.leases)
            who->held.emplace(lease.tag, lease);
    }
    for (auto& [who, what] : batch)
        std::exchange(who->done, nullptr)(std::move(what.deliveries));
}

}  // namespace shove::sqlite_backend
