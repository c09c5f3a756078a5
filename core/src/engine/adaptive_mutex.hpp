#pragma once

#include <mutex>
#include <thread>

namespace shove::detail {

/// Lets the other hardware thread run while we spin.
inline void spin_pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::this_thread::yield();
#endif
}

/// A mutex for sections of some dozen nanoseconds: a waiter spins a little before it sleeps, because a
/// sleep and a wake-up cost a hundred times the section.
class adaptive_mutex {
public:
    void lock() {
        for (int i = 0; i < 200; ++i) {
            if (mutex_.try_lock()) return;
            spin_pause();
        }
        mutex_.lock();
    }
    bool try_lock() { return mutex_.try_lock(); }
    void unlock() { mutex_.unlock(); }

private:
    std::mutex mutex_;
};

}  // namespace shove::detail
