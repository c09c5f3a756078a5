#include "task_queue.hpp"

#include <shove/detail/lease_rules.hpp>

#include <string>
#include <utility>

namespace shove::sqlite_backend::lease {

error task_queue::refusal(const task::nature& what) const {
    if (shut_) return detail::broker_closed();
    if (what.messages == 0 || messages_ == 0) return {};
    if (messages_ + what.messages <= limits_.messages && bytes_ + what.bytes <= limits_.bytes) return {};
    return {errc::queue_full, std::to_string(messages_) +
                                  " messages wait to be written; publish no faster than they are "
                                  "confirmed"};
}

void task_queue::post(std::unique_ptr<task> what) {
    std::unique_lock lock(guard_);
    if (const auto refused = refusal(what->what())) {
        lock.unlock();
        return what->finish(refused);
    }
    messages_ += what->what().messages;
    bytes_ += what->what().bytes;
    tasks_.push_back(std::move(what));
    lock.unlock();
    change_.notify_one();
}

void task_queue::ring() {
    {
        const std::lock_guard lock(guard_);
        rung_ = true;
    }
    change_.notify_one();
}

void task_queue::shut() {
    {
        const std::lock_guard lock(guard_);
        shut_ = true;
    }
    change_.notify_one();
}

bool task_queue::is_shut() const {
    const std::lock_guard lock(guard_);
    return shut_;
}

task_list task_queue::take(std::optional<std::chrono::steady_clock::duration> patience) {
    std::unique_lock lock(guard_);
    const auto something = [&] { return !tasks_.empty() || rung_ || shut_; };
    if (patience) {
        change_.wait_for(lock, *patience, something);
    } else {
        change_.wait(lock, something);
    }
    rung_ = false;
    task_list taken;
    std::size_t messages = 0;
    std::size_t bytes = 0;
    while (!tasks_.empty() && messages < limits_.messages_at_once && bytes < limits_.bytes_at_once) {
        messages += tasks_.front()->what().messages;
        bytes += tasks_.front()->what().bytes;
        taken.push_back(std::move(tasks_.front()));
        tasks_.pop_front();
    }
    messages_ -= messages;
    bytes_ -= bytes;
    return taken;
}

}  // namespace shove::sqlite_backend::lease
