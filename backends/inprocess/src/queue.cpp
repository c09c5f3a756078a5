#include "queue.hpp"

namespace shove::in_memory {

queue::queue(std::string name, kind what, const inprocess::config& limits, position_source& positions, clock& time,
             std::weak_ptr<const void> owner)
    : name_(std::move(name)),
      kind_(what),
      clock_(time),
      owner_(std::move(owner)),
      room_(limits.capacity, limits.max_bytes),
      ready_(positions),
      alarm_(time) {}

void queue::publish(spi::publish_request&& request, spi::callback<void(spi::publish_report)>&& done) {
    store_batch batch{.messages = std::move(request.messages), .pasts = {}, .published = true};
    completions due;
    errc cause{};
    bool waits = false;
    {
        std::lock_guard guard(lock_);
        cause = offer(batch, due);
        waits = may_wait(cause, request.deadline);
        if (waits) {
            auto report = [this, alive = owner_.lock(), done = std::move(done)](errc why, store_batch rest) mutable {
                done(report_of(rest, why, *this));
            };
            stores_.push({std::move(batch), request.deadline, std::move(report)});
        }
        match(due);
    }
    if (waits) return due.run();
    // NOLINTBEGIN(bugprone-use-after-move): both were moved only where it waits
    auto report = cause == errc::ok ? spi::publish_report{} : report_of(batch, cause, *this);
    due.run();
    done(std::move(report));
    // NOLINTEND(bugprone-use-after-move)
}

void queue::store(store_batch batch, steady_time deadline, store_done done) {
    completions due;
    errc cause{};
    bool waits = false;
    {
        std::lock_guard guard(lock_);
        cause = offer(batch, due);
        waits = may_wait(cause, deadline);
        if (waits) stores_.push({std::move(batch), deadline, std::move(done)});
        match(due);
    }
    due.run();
    if (!waits) done(cause, std::move(batch));  // NOLINT(bugprone-use-after-move): moved only where it waits
}

errc queue::offer(store_batch& batch, completions& due) {
    if (closed_) return errc::closed;
    if (stores_.empty()) return fill(batch, due);
    return batch.complete() ? errc::ok : errc::queue_full;
}

errc queue::fill(store_batch& batch, completions& due) {
    if (kind_ == kind::relay && !batch.published) return errc::unsupported;
    if (batch.published && (kind_ == kind::relay || !feeds_.empty())) return fill_all(batch, due);
    while (!batch.complete()) {
        const message& msg = batch.messages[batch.stored].msg;
        if (!msg) return errc::invalid_argument;
        const std::size_t bytes = room_.weigh(msg);
        if (room_.never_fits(bytes)) return errc::too_large;
        if (!room_.fits(bytes)) return errc::queue_full;
        room_.enter(bytes);
        place_next(batch);
    }
    return errc::ok;
}

void queue::place_next(store_batch& batch) {
    auto& [msg, delay] = batch.messages[batch.stored];
    auto known = batch.pasts.empty() ? nullptr : make_record(std::move(batch.pasts[batch.stored]), 0, false);
    ++batch.stored;
    if (delay <= milliseconds(0)) return ready_.push_back(std::move(msg), std::move(known));
    delayed_.push(after(delay), entry{std::move(msg), std::move(known)});
}

bool queue::may_wait(errc cause, steady_time deadline) const noexcept {
    if (cause != errc::queue_full) return false;
    return deadline == steady_time::max() || deadline > clock_.now();
}

steady_time queue::after(milliseconds delay) const noexcept {
    return clock_.now() + std::min(delay, inprocess::capabilities.max_delay);
}

void queue::match(completions& due) {
    if (!stores_.empty()) admit(due);
    if (!turns_.empty()) serve(due);
    if (stores_.empty() && starved_.load(std::memory_order_relaxed)) starved_ = false;
    set_alarm();
}

void queue::admit(completions& due) {
    while (!stores_.empty()) {
        const errc cause = fill(stores_.front().batch, due);
        if (cause == errc::queue_full) return;
        due.add(stores_.pop(), cause);
    }
}

void queue::serve(completions& due) {
    while (!turns_.empty() && !ready_.empty()) {
        const std::size_t sharers = turns_.size();
        receiver& who = turns_.next();
        auto done = std::move(who.done);
        due.add(std::move(done), hand_out(who, who.wanted, sharers));
    }
}

void queue::set_alarm() {
    const auto when = std::min(delayed_.next(), stores_.next_deadline());
    if (closed_ || !alarm_.needed(when)) return;
    alarm_.set(when, [this, owner = owner_] {
        if (const auto alive = owner.lock()) ring();
    });
}

void queue::ring() {
    constexpr std::size_t most_at_once = 1000;
    completions due;
    {
        std::lock_guard guard(lock_);
        const auto now = clock_.now();
        if (closed_ || !alarm_.rang(now)) return;
        for (std::size_t n = 0; n < most_at_once && delayed_.next() <= now; ++n) {
            entry item = delayed_.pop();
            ready_.push_back(std::move(item.msg), std::move(item.known));
        }
        if (delayed_.next() <= now) alarm_.again();
        expire(now, due);
        match(due);
    }
    due.run();
}

void queue::expire(steady_time now, completions& due) {
    while (stores_.next_deadline() <= now)
        due.add(stores_.pop_expired(), errc::queue_full);
}

void queue::close() {
    completions due;
    {
        std::lock_guard guard(lock_);
        shut(due);
    }
    due.run();
}

void queue::shut(completions& due) {
    closed_ = true;
    alarm_.off();
    while (!stores_.empty())
        due.add(stores_.pop(), errc::closed);
    for (receiver* who : receivers_) {
        turns_.leave(*who);
        if (who->waits()) due.add(std::move(who->done), explain(errc::closed));
    }
    for (queue* each : feeds_) {
        std::lock_guard guard(each->lock_);
        each->shut(due);
    }
}

error queue::explain(errc cause) const {
    const std::string who = "queue '" + name_ + "' ";
    std::string limits = "capacity " + std::to_string(room_.capacity()) + " messages";
    if (const auto most = room_.max_bytes()) limits += ", max_bytes " + std::to_string(*most);
    switch (cause) {
        case errc::queue_full:
            return {cause, who + (feeding_ ? "or one that it feeds is full (" : "is full (") + limits +
                               "): let consumers catch up, allow the publish more time, or raise the limit"};
        case errc::too_large:
            return {cause, who + "holds at most " + std::to_string(room_.max_bytes().value_or(0)) +
                               " bytes (max_bytes), less than this one message has"};
        case errc::closed:
            return {cause, who + "was closed"};
        case errc::cancelled:
            return {cause, "the receive on " + who + "was cancelled"};
        case errc::lease_lost:
            return {cause, who + "was given more settlements than this subscription holds deliveries"};
        case errc::unsupported:
            return {cause, who + "is a broadcast: it keeps no messages, publish them"};
        case errc::invalid_argument:
            return {cause, who + "takes no empty message handle: make the message with message::make"};
        default:
            return cause;
    }
}

spi::publish_report report_of(const store_batch& batch, errc cause, const queue& where) {
    spi::publish_report report;
    if (cause == errc::ok) return report;
    report.each.resize(batch.messages.size());
    for (std::size_t i = batch.stored; i < report.each.size(); ++i) {
        report.each[i] = {spi::publish_status::not_attempted, errc::not_attempted};
    }
    if (batch.complete()) return report;
    report.each[batch.stored] = {spi::publish_status::failed, where.explain(cause)};
    return report;
}

}  // namespace shove::in_memory
