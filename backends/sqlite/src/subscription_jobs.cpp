#include "subscription_jobs.hpp"

#include <algorithm>
#include <utility>

namespace shove::sqlite_backend {

subscribe_job::subscribe_job(std::string queue, const spi::source& from, completion done)
    : queue_(std::move(queue)),
      broadcast_(from.broadcast.has_value()),
      made_(std::make_shared<reader>()),
      done_(std::move(done)) {
    made_->prefetch = std::max<std::size_t>(1, from.prefetch);
    made_->exclusive = from.shard.has_value();
}

void subscribe_job::apply(workplace& at) {
    auto& queues = at.file.queues;
    made_->queue = queues.find(queue_);
    if (made_->queue == nullptr) return at.file.db.fail(at.file.unknown_queue(queue_));
    if (!queues.check_kind(*made_->queue, broadcast_) || !broadcast_) return;
    std::string name;
    do {
        name = queue_ + "-feed-" + std::to_string(at.file.self()) + "-" + std::to_string(at.file.next_tag());
    } while (queues.find(name) != nullptr);
    made_->queue = queues.subscribe(*made_->queue, name, at.file.self(), at.file.wall_us());
    if (made_->queue != nullptr) made_->own = made_->queue->shared_from_this();
}

void subscribe_job::finish(workplace& at, const error& cause, bool) {
    auto done = std::exchange(done_, nullptr);
    if (cause) return done(cause);
    ++at.readers.open;
    done(std::move(made_));
}

receive_job::receive_job(std::shared_ptr<reader> who, std::size_t max, completion done)
    : who_(std::move(who)), max_(max), done_(std::move(done)) {}

void subscribe_job::refuse(const error& cause) {
    std::exchange(done_, nullptr)(cause);
}

void receive_job::refuse(const error& cause) {
    std::exchange(done_, nullptr)(cause);
}

void receive_job::finish(workplace& at, const error& cause, bool) {
    auto done = std::exchange(done_, nullptr);
    if (cause) return done(cause);
    if (who_->closed) return done(error(errc::closed, "the subscription was closed"));
    if (who_->waiting) return done(error(errc::invalid_argument, "one receive at a time: another one is waiting"));
    who_->max = std::max<std::size_t>(1, max_);
    who_->done = std::move(done);
    at.readers.wait(who_);
}

void cancel_job::finish(workplace& at, const error&, bool) {
    if (at.readers.leave(who_)) std::exchange(who_->done, nullptr)(error(errc::cancelled));
}

void cancel_job::refuse(const error&) {}

extend_job::extend_job(std::shared_ptr<reader> who, std::vector<std::uint64_t> tags, completion done)
    : who_(std::move(who)), tags_(std::move(tags)), done_(std::move(done)) {}

void extend_job::apply(workplace& at) {
    lost_.clear();
    if (who_->exclusive && !at.file.shards.extend(who_->queue->group, at.file.self(), at.file.lease_end())) {
        lost_ = tags_;
        return;
    }
    for (const auto tag : tags_) {
        if (!at.file.leases.extend(at.file.self(), tag, at.file.lease_end())) lost_.push_back(tag);
    }
}

void extend_job::finish(workplace&, const error& cause, bool) {
    // A renewal that could not be written is no loss yet: the next one may work.
    if (cause) lost_.clear();
    for (const auto tag : lost_)
        who_->held.erase(tag);
    std::exchange(done_, nullptr)(std::move(lost_));
}

void extend_job::refuse(const error&) {
    std::exchange(done_, nullptr)({});
}

void isolate_job::apply(workplace& at) {
    lost_ = !at.file.leases.isolate(at.file.self(), tag_);
}

void isolate_job::finish(workplace&, const error& cause, bool) {
    auto done = std::exchange(done_, nullptr);
    if (!cause && lost_) return done({errc::lease_lost, "the delivery belongs to another consumer now"});
    done(cause);
}

void isolate_job::refuse(const error& cause) {
    std::exchange(done_, nullptr)(cause);
}

unsubscribe_job::unsubscribe_job(std::shared_ptr<reader> who, spi::callback<void(error)> done)
    : who_(std::move(who)), done_(std::move(done)) {}

void unsubscribe_job::apply(workplace& at) {
    if (who_->own) return at.file.queues.unsubscribe(*who_->own);
    for (const auto& [tag, lease] : who_->held) {
        if (!at.file.leases.remove(at.file.self(), tag)) continue;
        // The engine has lost it, and a handler may have run.
        at.file.parked.add(who_->queue->group, {lease.what.seq, lease.what.deliveries, true}, 0);
    }
    if (who_->exclusive && who_->queue->holder == who_.get()) at.file.shards.free(who_->queue->group, at.file.self());
}

void unsubscribe_job::finish(workplace& at, const error& cause, bool) {
    if (!std::exchange(who_->closed, true)) --at.readers.open;
    if (at.readers.leave(who_)) std::exchange(who_->done, nullptr)(error(errc::cancelled));
    if (!cause) who_->held.clear();
    if (!cause && who_->own) at.file.queues.release(*who_->own);
    if (who_->queue->holder == who_.get()) who_->queue->holder = nullptr;
    at.readers.hope(*who_->queue);
    if (done_) std::exchange(done_, nullptr)(cause);
}

void unsubscribe_job::refuse(const error&) {
    // The driver's end has given everything back.
    if (done_) std::exchange(done_, nullptr)({});
}

}  // namespace shove::sqlite_backend
