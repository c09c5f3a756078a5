#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

namespace shove::detail {

/// Starts an operation and blocks until its callback was called; gives what it was called with.
/// @param start  Called with a callback `void(T)`.
template <class T, class Start>
T wait_for(Start&& start) {
    std::mutex mutex;
    std::condition_variable arrived;
    std::optional<T> value;
    std::forward<Start>(start)([&](T v) {
        std::lock_guard lock(mutex);  // held while notifying: the waiter cannot leave before
        value.emplace(std::move(v));
        arrived.notify_one();
    });
    std::unique_lock lock(mutex);
    arrived.wait(lock, [&] { return value.has_value(); });
    return std::move(*value);
}

}  // namespace shove::detail
