#include "queue_jobs.hpp"

#include <shove/spi/reader_fit.hpp>

#include <utility>

namespace shove::sqlite_backend {

declare_job::declare_job(std::shared_ptr<const queue_topology> topology, spi::callback<void(error)> done)
    : topology_(std::move(topology)), done_(std::move(done)) {}

void declare_job::apply(workplace& at) {
    auto& queues = at.file.queues;
    const auto exists = [&queues](const std::string& name) { return queues.find(name) != nullptr; };
    if (auto wrong = spi::check_reader_fit(*topology_, exists)) return at.file.db.fail(std::move(wrong));
    const auto targets = topology_->targets();
    const auto places = topology_->places();
    for (std::size_t i = 0; i < targets.size() && at.file.db.ok(); ++i) {
        if (topology_->external && queues.find(targets[i]) == nullptr) {
            return at.file.db.fail(at.file.unknown_queue(targets[i]));
        }
        const bool reads_itself = places[i] == targets[i];
        const auto dead = reads_itself && !topology_->external ? topology_->dead_letter_queue : std::string();
        const auto* from = queues.declare(targets[i], dead, at.file.wall_us(), topology_->broadcast);
        if (from == nullptr || reads_itself) continue;
        const auto* to = queues.declare(places[i], topology_->dead_letter_queue, at.file.wall_us());
        if (to != nullptr) queues.feed(*from, *to);
    }
    if (!topology_->dead_letter_queue.empty()) queues.declare(topology_->dead_letter_queue, {}, at.file.wall_us());
}

void declare_job::finish(workplace&, const error& cause, bool) {
    std::exchange(done_, nullptr)(cause);
}

void release_key_job::apply(workplace& at) {
    auto* queue = at.file.queues.find(queue_);
    if (queue == nullptr) return at.file.db.fail(at.file.unknown_queue(queue_));
    released_ = at.file.keys.release(queue->group, key_) ? 1 : 0;
}

void release_key_job::finish(workplace&, const error& cause, bool) {
    auto done = std::exchange(done_, nullptr);
    if (cause) return done(cause);
    done(released_);
}

bool take_out(store& file, queue_state& queue, std::int64_t seq) {
    const bool parked = file.parked.remove(queue.group, seq);
    const bool unstarted = seq > queue.cursor && seq <= queue.tail;
    if (!parked && !unstarted) return false;
    if (!file.messages.remove(seq)) return false;
    file.histories.remove(queue.group, seq);
    // A parked message after the cursor is counted as a gap already.
    if (unstarted && !parked) {
        ++queue.gaps;
        file.queues.touch(queue);
    }
    return true;
}

move_job::move_job(std::string from, std::string to, std::vector<spi::moved> items, completion done)
    : from_(std::move(from)), to_(std::move(to)), items_(std::move(items)), done_(std::move(done)) {}

void move_job::apply(workplace& at) {
    count_ = 0;
    auto* from = at.file.queues.find(from_);
    if (from == nullptr) return at.file.db.fail(at.file.unknown_queue(from_));
    auto* to = to_.empty() ? nullptr : at.file.queues.find(to_);
    if (to == nullptr && !to_.empty()) return at.file.db.fail(at.file.unknown_queue(to_));
    if (to != nullptr && to->broadcast) {
        return at.file.db.fail(
            {errc::unsupported, "queue '" + to_ + "' is a broadcast: it keeps no messages, publish them"});
    }
    for (const auto& item : items_) {
        if (!take_out(at.file, *from, static_cast<std::int64_t>(item.cursor))) continue;
        if (to != nullptr) {
            const auto place = at.file.append_place(*to);
            if (place != 0) at.file.messages.insert(place, item.copy);
        }
        if (!at.file.db.ok()) return;
        ++count_;
    }
    if (to != nullptr) at.readers.hope(*to);
}

void move_job::finish(workplace&, const error& cause, bool) {
    auto done = std::exchange(done_, nullptr);
    if (cause) return done(cause);
    done(count_);
}

}  // namespace shove::sqlite_backend
