#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace shove::detail {

/// Starts an operation and blocks until its callback was called; gives what it was called with.
/// @param start  Called with a callback `void(T)`.
template <class T, class Start>
T wait_for(Start&& start) {
    struct answer {
        std::mutex mutex;
        std::condition_variable arrived;
        std::optional<T> value;
    };
    const auto shared = std::make_shared<answer>();  // outlives the waiter, who may go on before it is notified
    std::forward<Start>(start)([shared](T v) {
        {
            const std::lock_guard lock(shared->mutex);
            shared->value.emplace(std::move(v));
        }
        shared->arrived.notify_one();
    });
    std::unique_lock lock(shared->mutex);
    shared->arrived.wait(lock, [&] { return shared->value.has_value(); });
    return std::move(*shared->value);
}

}  // namespace shove::detail
