#include <shove/clock.hpp>

#include <condition_variable>
#include <ctime>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace shove {
namespace {

/// The timers; shared with the thread, so that the clock may go while an action runs.
class timer_heap {
public:
    clock::timer_id add(steady_time when, unique_function<void()> action) {
        std::lock_guard lock(mutex_);
        const auto id = ++last_id_;
        timers_.emplace(key{when, id}, std::move(action));
        places_.emplace(id, when);
        if (when < sleeps_until_) changed_.notify_one();
        return id;
    }

    bool remove(clock::timer_id id) {
        unique_function<void()> dropped;  // destroyed after the lock is gone
        std::lock_guard lock(mutex_);
        const auto place = places_.find(id);
        if (place == places_.end()) return false;
        const auto timer = timers_.find(key{place->second, id});
        dropped = std::move(timer->second);
        timers_.erase(timer);
        places_.erase(place);
        return true;
    }

    void run(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        while (!stop.stop_requested()) {
            if (!wait_for_due(lock, stop)) continue;
            auto due = timers_.extract(timers_.begin());
            places_.erase(due.key().id);
            lock.unlock();
            due.mapped()();
            due.mapped() = nullptr;
            lock.lock();
        }
    }

private:
    struct key {
        steady_time when;
        clock::timer_id id;
        friend auto operator<=>(const key&, const key&) = default;
    };

    /// True: the first timer is due. False: look again. A timer that is removed wakes nobody: the thread sleeps on
    /// until then, and a later one that is added meanwhile, as with one call after the other, costs no wake-up either.
    bool wait_for_due(std::unique_lock<std::mutex>& lock, const std::stop_token& stop) {
        const auto earlier = [&] { return !timers_.empty() && timers_.begin()->first.when < sleeps_until_; };
        if (timers_.empty()) {
            sleeps_until_ = steady_time::max();
            changed_.wait(lock, stop, earlier);
        } else {
            const auto when = timers_.begin()->first.when;
            if (when <= std::chrono::steady_clock::now()) return true;
            sleeps_until_ = when;
            changed_.wait_until(lock, stop, when, earlier);
        }
        sleeps_until_ = steady_time::min();
        return false;
    }

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::map<key, unique_function<void()>> timers_;
    std::unordered_map<clock::timer_id, steady_time> places_;
    clock::timer_id last_id_ = 0;
    steady_time sleeps_until_ = steady_time::min();  // the thread; min: it does not sleep
};

class system_clock_impl final : public clock {
public:
    system_clock_impl()
        : timers_(std::make_shared<timer_heap>()),
          thread_([timers = timers_](const std::stop_token& stop) { timers->run(stop); }) {}

    ~system_clock_impl() override {
        thread_.request_stop();
        // An action that drops the last owner runs on this very thread, which ends when the action
        // returns: it cannot join itself, and touches nothing but the shared heap.
        if (thread_.get_id() == std::this_thread::get_id()) thread_.detach();
    }

    steady_time now() const noexcept override { return std::chrono::steady_clock::now(); }
    wall_time wall() const noexcept override {
        return std::chrono::time_point_cast<wall_time::duration>(std::chrono::system_clock::now());
    }
    steady_time recent() const noexcept override {
        // Linux: a tick old at most (4 ms at 250 Hz, 10 ms at 100 Hz), and a tenth of the cost.
        timespec ts{};
        if (clock_gettime(CLOCK_MONOTONIC_COARSE, &ts) != 0) return now();
        return steady_time(std::chrono::seconds(ts.tv_sec) + std::chrono::nanoseconds(ts.tv_nsec));
    }
    timer_id call_at(steady_time when, unique_function<void()> action) override {
        return timers_->add(when, std::move(action));
    }
    bool cancel(timer_id id) override { return timers_->remove(id); }

private:
    std::shared_ptr<timer_heap> timers_;
    std::jthread thread_;
};

}  // namespace

std::shared_ptr<clock> make_system_clock() {
    return std::make_shared<system_clock_impl>();
}

}  // namespace shove
