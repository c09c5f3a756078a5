#pragma once

#include <shove/clock.hpp>
#include <shove/detail/unique_function.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace shove::kafka_backend {

/// One thread that runs tasks in order, and timers. What it alone touches needs no lock. Tasks must not throw.
/// @par Thread safety  `post` and `poke`: safe. Timers belong to the loop's thread.
class loop {
public:
    using task = unique_function<void()>;
    using timer = std::pair<steady_time, std::uint64_t>;

    /// Where a library's thread says that there is something to do. Many pokes before it is done are one task.
    class bell {
    public:
        bell(std::shared_ptr<loop> on, task ring) : loop_(std::move(on)), ring_(std::move(ring)) {}
        /// From any thread.
        static void ring(const std::shared_ptr<bell>& which);
        /// On the loop's thread: it does nothing from now on.
        void silence() noexcept { ring_ = nullptr; }

    private:
        const std::shared_ptr<loop> loop_;
        task ring_;
        std::atomic<bool> rung_{false};
    };

    loop();
    ~loop();
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;

    /// False, and the task is dropped: the loop has ended.
    bool post(task what);
    /// Runs a task at that time, or soon after. On the loop's thread.
    timer at(steady_time when, task what);
    timer after(milliseconds delay, task what) { return at(std::chrono::steady_clock::now() + delay, std::move(what)); }
    /// It does not run, if it has not yet. On the loop's thread.
    void cancel(const timer& which) { timers_.erase(which); }
    bool on_thread() const noexcept { return std::this_thread::get_id() == thread_.get_id(); }
    /// Runs what was posted, drops timers, and ends the thread. Idempotent; never from a task.
    void finish();

private:
    void run();
    void run_timers();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<task> tasks_;  // guarded, as the next one
    bool stopping_ = false;
    std::map<timer, task> timers_;
    std::uint64_t timer_count_ = 0;
    std::thread thread_;
};

}  // namespace shove::kafka_backend
