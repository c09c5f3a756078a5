#pragma once

#include <shove/clock.hpp>
#include <shove/detail/unique_function.hpp>
#include <shove/error.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace shove::detail {

/// Does work that blocks (questions to a client library, mostly) on a thread of its own, one piece at a time, in order.
/// The thread is made for the first.
/// @par Thread safety  Safe.
class question_desk {
public:
    question_desk() = default;
    question_desk(const question_desk&) = delete;
    question_desk& operator=(const question_desk&) = delete;
    ~question_desk() { finish(); }

    /// Calls `what` on the thread; or, after `shut`, `refused` with `errc::closed`, there or here. Neither may throw.
    void ask(unique_function<void()> what, unique_function<void(const error&)> refused);
    /// Refuses what waits and what comes. Does not wait for the piece that runs.
    void shut();
    /// After `shut`: whether the last piece ended by then.
    bool wait_stopped(steady_time until);
    /// Shuts, and waits for the thread. Not to be called there.
    void finish();

private:
    struct question {
        unique_function<void()> what;
        unique_function<void(const error&)> refused;
    };
    void run();

    std::mutex mutex_;  ///< Guards all below.
    std::condition_variable changed_;
    std::deque<question> questions_;
    bool shut_ = false;
    bool running_ = false;
    std::thread thread_;
};

}  // namespace shove::detail
