#include "loop.hpp"

namespace shove::kafka_backend {

loop::loop() : thread_([this] { run(); }) {}

loop::~loop() {
    finish();
}

bool loop::post(task what) {
    const std::lock_guard lock(mutex_);
    if (stopping_) return false;
    tasks_.push_back(std::move(what));
    if (tasks_.size() == 1) changed_.notify_one();
    return true;
}

loop::timer loop::at(steady_time when, task what) {
    const timer made{when, ++timer_count_};
    timers_.emplace(made, std::move(what));
    return made;
}

void loop::finish() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        changed_.notify_one();
    }
    if (thread_.joinable()) thread_.join();
}

void loop::run() {
    std::vector<task> batch;
    std::unique_lock lock(mutex_);
    while (true) {
        const auto awake = [&] { return stopping_ || !tasks_.empty(); };
        if (timers_.empty()) {
            changed_.wait(lock, awake);
        } else {
            changed_.wait_until(lock, timers_.begin()->first.first, awake);
        }
        if (stopping_ && tasks_.empty()) break;
        batch.swap(tasks_);
        lock.unlock();
        for (auto& each : batch)
            each();
        batch.clear();
        run_timers();
        lock.lock();
    }
    lock.unlock();
    timers_.clear();
}

void loop::run_timers() {
    const auto now = std::chrono::steady_clock::now();
    while (!timers_.empty() && timers_.begin()->first.first <= now) {
        auto due = timers_.extract(timers_.begin());
        due.mapped()();
    }
}

void loop::bell::ring(const std::shared_ptr<bell>& which) {
    if (which->rung_.exchange(true)) return;
    which->loop_->post([which] {
        which->rung_ = false;
        if (which->ring_) which->ring_();
    });
}

}  // namespace shove::kafka_backend
