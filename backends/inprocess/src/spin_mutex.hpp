#pragma once

#include <mutex>

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

namespace shove::in_memory {

/// A mutex that tries for a moment before it sleeps: the sections that it guards are shorter than a
/// trip into the kernel.
class spin_mutex {
public:
    void lock() {
        for (int i = 0; i < spins; ++i) {
            if (mutex_.try_lock()) return;
            relax();
        }
        mutex_.lock();
    }
    void unlock() { mutex_.unlock(); }

private:
    static constexpr int spins = 40;

    static void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
        _mm_pause();
#endif
    }

    std::mutex mutex_;
};

}  // namespace shove::in_memory
