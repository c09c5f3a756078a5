#include "task_thread.hpp"

#include <utility>

namespace shove::detail {

void task_thread::post(unique_function<void()> task) {
    const std::lock_guard lock(mutex_);
    if (joined_) return;
    tasks_.push_back(std::move(task));
    if (!thread_.joinable()) thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    changed_.notify_one();
}

void task_thread::join() {
    std::jthread ending;
    std::deque<unique_function<void()>> dropped;  // what they captured ends after the lock
    {
        const std::lock_guard lock(mutex_);
        joined_ = true;
        ending = std::move(thread_);
        dropped.swap(tasks_);
    }
}

void task_thread::run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, stop, [&] { return !tasks_.empty(); })) {
        auto task = std::move(tasks_.front());
        tasks_.pop_front();
        lock.unlock();
        task();
        task = nullptr;
        lock.lock();
    }
}

}  // namespace shove::detail
