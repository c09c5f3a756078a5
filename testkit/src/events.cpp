#include <shove/testkit/events.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace shove::testkit {

milliseconds patience() {
    static const milliseconds value = [] {
        const char* text = std::getenv("SHOVE_TEST_PATIENCE_S");
        const long seconds = text ? std::strtol(text, nullptr, 10) : 0;
        return milliseconds(1000 * (seconds > 0 ? seconds : 20));
    }();
    return value;
}

void eventually(std::string_view what, const std::function<bool()>& condition, milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
        if (std::chrono::steady_clock::now() >= deadline) throw impatience(what);
        std::this_thread::sleep_for(milliseconds(1));  // real time: polls, with a deadline
    }
}

void until(steady_time when) {
    std::this_thread::sleep_until(when);  // real time: the caller's matter
}

struct counter::state {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t count = 0;
};

counter::counter() : state_(std::make_shared<state>()) {}

std::size_t counter::add(std::size_t n) const {
    const std::lock_guard lock(state_->mutex);
    state_->count += n;
    state_->changed.notify_all();
    return state_->count;
}

std::size_t counter::value() const {
    const std::lock_guard lock(state_->mutex);
    return state_->count;
}

bool counter::reached(std::size_t n, milliseconds limit) const {
    std::unique_lock lock(state_->mutex);
    return state_->changed.wait_for(lock, limit, [&] { return state_->count >= n; });
}

void counter::wait(std::size_t n, std::string_view what, milliseconds limit) const {
    if (!reached(n, limit)) {
        throw impatience(std::string(what) + " (" + std::to_string(value()) + " of " + std::to_string(n) + ")");
    }
}

struct crowd::state {
    std::mutex mutex;
    std::size_t inside = 0;
    std::size_t most = 0;
};

std::shared_ptr<crowd::state> crowd::make() {
    return std::make_shared<state>();
}

std::shared_ptr<void> crowd::enter() const {
    const std::lock_guard lock(state_->mutex);
    state_->most = std::max(state_->most, ++state_->inside);
    return {nullptr, [s = state_](void*) {
                const std::lock_guard leaving(s->mutex);
                --s->inside;
            }};
}

std::size_t crowd::most() const {
    const std::lock_guard lock(state_->mutex);
    return state_->most;
}

}  // namespace shove::testkit
