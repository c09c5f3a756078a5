#pragma once

#include <shove/clock.hpp>

#include <mutex>
#include <utility>

namespace shove::detail {

/// One timer that is set again and again. Thread-safe.
class alarm {
public:
    explicit alarm(shove::clock& clock) noexcept : clock_(clock) {}
    ~alarm() { stop(); }
    alarm(const alarm&) = delete;
    alarm& operator=(const alarm&) = delete;

    /// Takes the place of what was set before. After `stop` it does nothing.
    void set(steady_time when, unique_function<void()> action) {
        const std::lock_guard lock(mutex_);
        drop();
        if (!stopped_) timer_ = clock_.call_at(when, std::move(action));
    }
    /// Takes back what was set; it may run just now.
    void clear() {
        const std::lock_guard lock(mutex_);
        drop();
    }
    void stop() {
        const std::lock_guard lock(mutex_);
        stopped_ = true;
        drop();
    }

private:
    void drop() {
        if (const auto old = std::exchange(timer_, 0)) clock_.cancel(old);
    }

    shove::clock& clock_;
    std::mutex mutex_;
    clock::timer_id timer_ = 0;
    bool stopped_ = false;
};

}  // namespace shove::detail
