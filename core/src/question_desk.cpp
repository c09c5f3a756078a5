#include <shove/detail/question_desk.hpp>

#include <utility>

namespace shove::detail {

namespace {

error closed() {
    return {errc::closed, "the broker was closed"};
}

}  // namespace

void question_desk::ask(unique_function<void()> what, unique_function<void(const error&)> refused) {
    {
        const std::lock_guard lock(mutex_);
        if (!shut_) {
            auto& next = questions_.emplace_back();
            next.what = std::move(what);
            next.refused = std::exchange(refused, nullptr);
            if (!thread_.joinable()) {
                running_ = true;
                thread_ = std::thread([this] { run(); });
            }
        }
    }
    if (refused) return refused(closed());
    changed_.notify_all();
}

void question_desk::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return shut_ || !questions_.empty(); });
        if (shut_) break;
        auto next = std::move(questions_.front());
        questions_.pop_front();
        lock.unlock();
        next.what();
        next = {};  // what it captured ends before the lock
        lock.lock();
    }
    running_ = false;
    changed_.notify_all();
}

void question_desk::shut() {
    std::deque<question> left;
    {
        const std::lock_guard lock(mutex_);
        shut_ = true;
        left.swap(questions_);
    }
    changed_.notify_all();
    for (auto& each : left)
        each.refused(closed());
}

bool question_desk::wait_stopped(steady_time until) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, until, [this] { return !running_; });
}

void question_desk::finish() {
    shut();
    if (thread_.joinable()) thread_.join();
}

}  // namespace shove::detail
