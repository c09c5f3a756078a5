#pragma once

#include <shove/clock.hpp>
#include <shove/error.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace shove::detail {

/// A callback that two parties race for; the first to claim it has it.
template <class... Args>
class once {
public:
    explicit once(unique_function<void(Args...)> done) : done_(std::move(done)) {}
    unique_function<void(Args...)> claim() {
        std::lock_guard lock(mutex_);
        return std::exchange(done_, nullptr);
    }

private:
    std::mutex mutex_;
    unique_function<void(Args...)> done_;
};

/// Starts an operation that ends with an error or none, and completes by `until` at the latest, then
/// with `errc::timed_out` and `late` as its text.
template <class Start>
void bounded(clock& time, steady_time until, std::string late, unique_function<void(error)> done, Start&& start) {
    const auto shared = std::make_shared<once<error>>(std::move(done));
    const auto timer = time.call_at(until, [shared, late = std::move(late)]() mutable {
        if (auto complete = shared->claim()) complete(error(errc::timed_out, std::move(late)));
    });
    std::forward<Start>(start)(unique_function<void(error)>([shared, timer, &time](error e) {
        auto complete = shared->claim();
        if (!complete) return;
        time.cancel(timer);
        complete(std::move(e));
    }));
}

}  // namespace shove::detail
