#include "mailbox.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace shove::sqlite_backend {

error closed_error() {
    return {errc::closed, "the sqlite driver was closed"};
}

void mailbox::post(std::unique_ptr<job> what) {
    std::unique_lock lock(guard_);
    if (shut_) {
        lock.unlock();
        return what->refuse(closed_error());
    }
    others_.push_back(std::move(what));
    lock.unlock();
    change_.notify_one();
}

void mailbox::publish(std::unique_ptr<publish_job> what, clock& time) {
    const auto deadline = what->deadline();
    std::unique_lock lock(guard_);
    if (!shut_ && waiting_.empty() && has_room(*what)) {
        admit(std::move(what));
        lock.unlock();
        return change_.notify_one();
    }
    if (shut_ || deadline <= time.now()) {
        const auto refused = shut_ ? closed_error() : full();
        lock.unlock();
        return what->refuse(refused);
    }
    const auto ticket = ++last_ticket_;
    waiting_.push_back({ticket, 0, std::move(what)});
    lock.unlock();
    if (deadline != steady_time::max()) arm(ticket, deadline, time);
}

void mailbox::arm(std::uint64_t ticket, steady_time deadline, clock& time) {
    const auto timer = time.call_at(deadline, [self = shared_from_this(), ticket] { self->expire(ticket); });
    {
        const std::lock_guard lock(guard_);
        const auto place =
            std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& w) { return w.ticket == ticket; });
        if (place != waiting_.end()) {
            place->timer = timer;
            return;
        }
    }
    time.cancel(timer);
}

void mailbox::expire(std::uint64_t ticket) {
    std::unique_ptr<publish_job> late;
    {
        const std::lock_guard lock(guard_);
        const auto place =
            std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& w) { return w.ticket == ticket; });
        if (place == waiting_.end()) return;
        late = std::move(place->what);
        waiting_.erase(place);
    }
    late->refuse(full());
}

void mailbox::ring() {
    {
        const std::lock_guard lock(guard_);
        rung_ = true;
    }
    change_.notify_one();
}

void mailbox::shut() {
    {
        const std::lock_guard lock(guard_);
        shut_ = true;
        rung_ = true;
    }
    change_.notify_one();
}

bool mailbox::is_shut() const {
    const std::lock_guard lock(guard_);
    return shut_;
}

job_list mailbox::take(std::optional<std::chrono::steady_clock::duration> patience) {
    std::unique_lock lock(guard_);
    const auto something = [this] { return rung_ || shut_ || !others_.empty() || !publishes_.empty(); };
    if (!patience) {
        change_.wait(lock, something);
    } else if (*patience > std::chrono::steady_clock::duration::zero()) {
        change_.wait_until(lock, std::chrono::steady_clock::now() + *patience, something);
    }
    rung_ = false;
    auto taken = std::exchange(others_, {});
    take_publishes(taken);
    return taken;
}

void mailbox::take_publishes(job_list& into) {
    std::size_t messages = 0;
    std::size_t bytes = 0;
    while (!publishes_.empty() && messages < limits_.messages_at_once && bytes < limits_.bytes_at_once) {
        messages += publishes_.front()->messages();
        bytes += publishes_.front()->bytes();
        into.push_back(std::move(publishes_.front()));
        publishes_.pop_front();
    }
}

void mailbox::written(std::size_t messages, std::size_t bytes, clock& time) {
    std::vector<clock::timer_id> settled;
    {
        const std::lock_guard lock(guard_);
        messages_ -= messages;
        bytes_ -= bytes;
        while (!waiting_.empty() && has_room(*waiting_.front().what)) {
            if (waiting_.front().timer != 0) settled.push_back(waiting_.front().timer);
            admit(std::move(waiting_.front().what));
            waiting_.pop_front();
        }
    }
    for (const auto timer : settled)
        time.cancel(timer);
}

void mailbox::refuse_all(const error& cause, clock& time) {
    job_list jobs;
    std::vector<clock::timer_id> timers;
    {
        const std::lock_guard lock(guard_);
        jobs = std::exchange(others_, {});
        for (auto& one : std::exchange(publishes_, {}))
            jobs.push_back(std::move(one));
        for (auto& one : std::exchange(waiting_, {})) {
            if (one.timer != 0) timers.push_back(one.timer);
            jobs.push_back(std::move(one.what));
        }
    }
    for (const auto timer : timers)
        time.cancel(timer);
    for (auto& one : jobs)
        one->refuse(cause);
}

bool mailbox::has_room(const publish_job& what) const {
    // One that is larger than all the room gets in alone.
    if (messages_ == 0) return true;
    return messages_ + what.messages() <= limits_.messages && bytes_ + what.bytes() <= limits_.bytes;
}

void mailbox::admit(std::unique_ptr<publish_job> what) {
    messages_ += what->messages();
    bytes_ += what->bytes();
    publishes_.push_back(std::move(what));
}

error mailbox::full() const {
    return {errc::queue_full, "more than " + std::to_string(limits_.messages) + " messages or " +
                                  std::to_string(limits_.bytes) +
                                  " bytes wait to be written; publish more slowly or raise max_queued_publishes"};
}

}  // namespace shove::sqlite_backend
