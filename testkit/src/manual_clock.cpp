#include <shove/testkit/manual_clock.hpp>

#include <algorithm>

namespace shove::testkit {

steady_time manual_clock::now() const noexcept {
    std::lock_guard lock(mutex_);
    return now_;
}

wall_time manual_clock::wall() const noexcept {
    std::lock_guard lock(mutex_);
    return wall_start_ + std::chrono::floor<wall_time::duration>(now_ - start);
}

clock::timer_id manual_clock::call_at(steady_time when, unique_function<void()> action) {
    std::lock_guard lock(mutex_);
    const timer_id id = ++last_id_;
    timers_.emplace(key{when, id}, std::move(action));
    places_.emplace(id, when);
    added_.notify_all();
    return id;
}

bool manual_clock::cancel(timer_id id) {
    unique_function<void()> dropped;  // what it captured ends after the lock
    std::lock_guard lock(mutex_);
    const auto place = places_.find(id);
    if (place == places_.end()) return false;
    const auto timer = timers_.find(key{place->second, id});
    dropped = std::move(timer->second);
    timers_.erase(timer);
    places_.erase(place);
    return true;
}

void manual_clock::advance(duration by) {
    run_until(now() + std::max(by, duration::zero()));
}

bool manual_clock::advance_to_next() {
    const auto when = next();
    if (!when) return false;
    run_until(std::max(*when, now()));
    return true;
}

void manual_clock::run_until(steady_time target) {
    std::unique_lock lock(mutex_);
    while (!timers_.empty() && timers_.begin()->first.first <= target) {
        auto due = timers_.extract(timers_.begin());
        places_.erase(due.key().second);
        now_ = std::max(now_, due.key().first);
        lock.unlock();
        due.mapped()();
        due.mapped() = nullptr;
        lock.lock();
    }
    now_ = std::max(now_, target);
}

std::optional<steady_time> manual_clock::next() const {
    std::lock_guard lock(mutex_);
    if (timers_.empty()) return std::nullopt;
    return timers_.begin()->first.first;
}

std::size_t manual_clock::pending() const {
    std::lock_guard lock(mutex_);
    return timers_.size();
}

bool manual_clock::wait_for_pending(std::size_t count, std::chrono::milliseconds limit) const {
    std::unique_lock lock(mutex_);
    return added_.wait_for(lock, limit, [&] { return timers_.size() >= count; });
}

void manual_clock::step_wall(wall_time::duration by) {
    std::lock_guard lock(mutex_);
    wall_start_ += by;
}

}  // namespace shove::testkit
