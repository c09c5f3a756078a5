#include "settle_job.hpp"

#include <algorithm>
#include <utility>

namespace shove::sqlite_backend {

settle_job::settle_job(std::shared_ptr<reader> who, std::string dead_letter_queue, std::vector<spi::settlement> batch,
                       spi::callback<void(std::vector<spi::failed_settlement>)> done)
    : who_(std::move(who)),
      dead_letter_queue_(std::move(dead_letter_queue)),
      batch_(std::move(batch)),
      done_(std::move(done)) {}

void settle_job::apply(workplace& at) {
    refused_.clear();
    for (std::size_t i = 0; i < batch_.size() && at.file.db.ok(); ++i) {
        if (auto cause = settle(at, batch_[i])) refused_.emplace_back(i, std::move(cause));
    }
}

error settle_job::settle(workplace& at, const spi::settlement& one) {
    const auto held = who_->held.find(one.item.tag);
    if (held == who_->held.end()) return lease_lost();
    if (one.kind == spi::settlement_kind::dead_letter && dead_letter_queue_.empty()) {
        return {errc::invalid_argument,
                "queue '" + who_->queue->name + "' has no dead-letter queue; add .dlq() to its topology"};
    }
    if (one.kind == spi::settlement_kind::keep) {
        if (!at.file.leases.extend(at.file.self(), one.item.tag, at.file.lease_end())) {
            return at.file.db.ok() ? lease_lost() : error{};
        }
        const auto due = at.file.wall_us() + one.delay.count() * 1000;
        at.file.histories.put(who_->queue->group, held->second.what.seq,
                              one.item.past ? *one.item.past : spi::history{}, due);
        held->second.has_history = true;
        return {};
    }
    if (!at.file.leases.remove(at.file.self(), one.item.tag)) return at.file.db.ok() ? lease_lost() : error{};
    carry_out(at, at.file.queues.refresh(*who_->queue), one, held->second);
    return {};
}

void settle_job::carry_out(workplace& at, queue_state& queue, const spi::settlement& one, const held_lease& held) {
    const auto seq = held.what.seq;
    auto& file = at.file;
    switch (one.kind) {
        case spi::settlement_kind::complete:
            if (held.has_history) file.histories.remove(queue.group, seq);
            file.messages.remove(seq);
            break;
        case spi::settlement_kind::delay: {
            const auto due = one.delay > milliseconds(0) ? file.wall_us() + one.delay.count() * 1000 : 0;
            file.parked.add(queue.group, {seq, held.what.deliveries, true}, due);
            if (one.item.past) file.histories.put(queue.group, seq, *one.item.past);
            at.readers.hope(queue);
            break;
        }
        case spi::settlement_kind::dead_letter:
            bury(at, queue, one, held);
            if (one.poison_key) file.keys.poison(queue.group, one.item.msg.key().value_or(""), file.wall_us());
            break;
        case spi::settlement_kind::keep:
            break;  // done by now: it stays
        case spi::settlement_kind::release:
            file.parked.add(queue.group, {seq, held.what.deliveries - 1, held.what.maybe_handled}, 0);
            at.readers.hope(queue);
            break;
    }
}

void settle_job::bury(workplace& at, const queue_state& queue, const spi::settlement& one, const held_lease& held) {
    auto& file = at.file;
    const auto seq = held.what.seq;
    auto* dead = file.queues.declare(dead_letter_queue_, {}, file.wall_us());
    if (dead == nullptr || !file.db.ok()) return;
    const auto place = file.append_place(*dead);
    if (place == 0) return;
    file.messages.copy(seq, place);
    file.messages.remove(seq);
    if (held.has_history) file.histories.remove(queue.group, seq);
    if (one.item.past) file.histories.put(dead->group, place, *one.item.past);
    at.readers.hope(*dead);
}

error settle_job::lease_lost() const {
    return {errc::lease_lost, "a delivery of queue '" + who_->queue->name +
                                  "' was not renewed in time and belongs to another consumer now"};
}

void settle_job::refuse(const error& cause) {
    std::vector<spi::failed_settlement> failed;
    failed.reserve(batch_.size());
    for (auto& one : batch_)
        failed.push_back({std::move(one), cause});
    std::exchange(done_, nullptr)(std::move(failed));
}

void settle_job::finish(workplace& at, const error& cause, bool) {
    if (cause) return refuse(cause);
    std::vector<spi::failed_settlement> failed;
    for (auto& [place, why] : refused_) {
        // Lost ones are forgotten below; one that was refused for another reason stays ours.
        const auto tag = why == errc::lease_lost ? batch_[place].item.tag : 0;
        failed.push_back({std::move(batch_[place]), std::move(why)});
        batch_[place].item.tag = tag;
    }
    for (const auto& one : batch_) {
        if (one.kind != spi::settlement_kind::keep) who_->held.erase(one.item.tag);
    }
    at.readers.hope(*who_->queue);
    std::exchange(done_, nullptr)(std::move(failed));
}

}  // namespace shove::sqlite_backend
