#pragma once

#include "task.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

namespace shove::sqlite_backend::lease {

/// Where tasks wait for the worker. Bounded: a publish that finds no room is refused at once.
/// @par Thread safety  Safe.
class task_queue {
public:
    struct limits {
        std::size_t messages = 65'536;
        std::size_t bytes = 64 * 1024 * 1024;
        /// A transaction takes no more than this, so that those of others do not wait long.
        std::size_t messages_at_once = 4'096;
        std::size_t bytes_at_once = 8 * 1024 * 1024;
    };

    task_queue() = default;
    explicit task_queue(limits bounds) : limits_(bounds) {}

    void post(std::unique_ptr<task> what);
    /// Has the worker look around.
    void ring();
    /// Nothing more is taken in; what is in stays in.
    void shut();
    bool is_shut() const;

    /// For the worker: waits for a task, a ring or the end of `patience`, then takes as many as a transaction may have.
    task_list take(std::optional<std::chrono::steady_clock::duration> patience);

private:
    error refusal(const task::nature& what) const;

    const limits limits_{};
    mutable std::mutex guard_;
    std::condition_variable change_;
    std::deque<std::unique_ptr<task>> tasks_;
    std::size_t messages_ = 0;
    std::size_t bytes_ = 0;
    bool rung_ = false;
    bool shut_ = false;
};

}  // namespace shove::sqlite_backend::lease
