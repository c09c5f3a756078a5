#pragma once

#include <shove/detail/unique_function.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <stop_token>
#include <thread>

namespace shove::detail {

/// Runs tasks in order on one thread of its own, which is made for the first: for what must run neither on the
/// clock's nor on a driver's thread, such as code of the user's. Thread-safe.
class task_thread {
public:
    ~task_thread() { join(); }

    /// Queues a task; it must not throw. After `join` it is dropped.
    void post(unique_function<void()> task);
    /// Ends the task that runs and drops the others. Never from a task.
    void join();

private:
    void run(const std::stop_token& stop);

    std::mutex mutex_;
    std::condition_variable_any changed_;
    std::deque<unique_function<void()>> tasks_;
    bool joined_ = false;
    std::jthread thread_;
};

}  // namespace shove::detail
