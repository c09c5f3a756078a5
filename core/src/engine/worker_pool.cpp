#include "worker_pool.hpp"

#include <algorithm>
#include <chrono>

#include "adaptive_mutex.hpp"

namespace shove::detail {
namespace {

/// How long one idle worker looks out for new work before it sleeps: about the time a wake-up takes, so
/// that a steady stream of single messages needs none.
constexpr auto spin_time = std::chrono::microseconds(20);

/// In so many doublings an idle worker comes to spin in one idle moment of 64 only.
constexpr unsigned most_doublings = 6;

}  // namespace

void worker_pool::submit(std::shared_ptr<runnable> task) {
    std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    waiting_.store(tasks_.size(), std::memory_order_release);
    if (tasks_.size() <= (spinning_ ? 1u : 0u)) return;  // the spinning worker sees it
    if (sleeping_ > 0) {
        changed_.notify_one();
    } else if (threads_.size() < max_threads_ && !stopping_) {
        threads_.emplace_back([this] { run(); });
    }
}

void worker_pool::join() {
    std::vector<std::jthread> threads;
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
        changed_.notify_all();
        threads.swap(threads_);
    }
    threads.clear();
}

void worker_pool::run() {
    worker_context context{*this, {}};
    while (auto task = next())
        task->work(context);
}

std::shared_ptr<runnable> worker_pool::next() {
    std::unique_lock lock(mutex_);
    if (tasks_.empty() && !spinning_ && !stopping_ && pays_to_spin()) spin(lock);
    ++sleeping_;
    changed_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
    --sleeping_;
    if (tasks_.empty()) return nullptr;
    auto task = std::move(tasks_.front());
    tasks_.pop_front();
    waiting_.store(tasks_.size(), std::memory_order_release);
    return task;
}

/// Where work comes too seldom for it, only every so many idle moments is spun in, to see whether that has changed.
/// With the lock held.
bool worker_pool::pays_to_spin() {
    if (++unspun_ < 1U << std::min(futile_spins_, most_doublings)) return false;
    unspun_ = 0;
    return true;
}

void worker_pool::spin(std::unique_lock<std::mutex>& lock) {
    spinning_ = true;
    lock.unlock();
    const auto until = std::chrono::steady_clock::now() + spin_time;
    while (waiting_.load(std::memory_order_acquire) == 0 && std::chrono::steady_clock::now() < until)
        spin_pause();
    lock.lock();
    spinning_ = false;
    futile_spins_ = tasks_.empty() ? futile_spins_ + 1 : 0;
}

}  // namespace shove::detail
