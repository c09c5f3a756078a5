#pragma once

#include <shove/codec.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace shove::detail {

class worker_pool;

/// What a worker thread gives to the work it runs.
struct worker_context {
    worker_pool& pool;
    decode_scratch scratch;
};

/// Something with work for a worker: a consumer with messages.
class runnable {
public:
    virtual ~runnable() = default;
    /// Works until there is nothing to do, or until others wait and it had its turn.
    virtual void work(worker_context& context) = 0;
};

/// Threads for plain handlers, made as they are needed. A handler may block its thread.
/// @par Thread safety  Safe.
class worker_pool {
public:
    explicit worker_pool(unsigned max_threads) : max_threads_(max_threads) {}
    ~worker_pool() { join(); }

    /// Has `task->work` called by a worker. Cheap; never blocks.
    void submit(std::shared_ptr<runnable> task);
    /// Whether submitted work waits for a worker now.
    bool has_waiting() const noexcept { return waiting_.load(std::memory_order_relaxed) > 0; }
    unsigned size() const noexcept { return max_threads_; }
    /// Lets submitted work end, then ends the threads. Waits for running handlers. Idempotent.
    void join();

private:
    void run();
    std::shared_ptr<runnable> next();
    bool pays_to_spin();
    void spin(std::unique_lock<std::mutex>& lock);

    const unsigned max_threads_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<runnable>> tasks_;
    std::atomic<std::size_t> waiting_{0};  // = tasks_.size(), readable without the lock
    std::vector<std::jthread> threads_;
    unsigned sleeping_ = 0;
    bool spinning_ = false;
    unsigned futile_spins_ = 0;  ///< In a row.
    unsigned unspun_ = 0;        ///< Idle moments without a spin since the last one.
    bool stopping_ = false;
};

}  // namespace shove::detail
