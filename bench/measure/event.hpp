#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace shove::bench {

/// Happens once; others wait for it.
/// @par Thread safety  All members may be called from several threads.
class event {
public:
    void set() {
        {
            const std::lock_guard lock(mutex_);
            happened_ = true;
        }
        changed_.notify_all();
    }
    /// False if it has not happened in time.
    bool wait_for(std::chrono::milliseconds limit) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, limit, [this] { return happened_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool happened_ = false;
};

}  // namespace shove::bench
