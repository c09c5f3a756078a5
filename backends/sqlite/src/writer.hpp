#pragma once

#include "attendance.hpp"
#include "mailbox.hpp"
#include "store.hpp"

#include <shove/clock.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

namespace shove::sqlite_backend {

/// Runs all changes of one driver, on one thread: takes every job that waits, carries them out in
/// one transaction together with the claims of waiting readers, commits once, then tells everybody.
class writer {
public:
    writer(std::unique_ptr<store> file, std::shared_ptr<mailbox> inbox, std::shared_ptr<clock> time, milliseconds poll);

    /// Works until the mailbox is shut and empty, then leaves the file.
    void run();

    std::uint64_t commits() const noexcept { return commits_; }

private:
    using instant = std::chrono::steady_clock::time_point;

    /// How one attempt at a transaction ended.
    struct attempt {
        bool committed = false;
        bool in_commit = false;   ///< It failed at the very end.
        bool in_serving = false;  ///< The jobs went well, a claim failed.
        std::optional<std::size_t> culprit;
        std::vector<attendance::served> served;
    };

    std::optional<std::chrono::steady_clock::duration> patience();
    void look_around(job_list& jobs);
    void look_for_lost(job_list& jobs, instant now);
    void work(job_list jobs);
    bool anything_to_serve();
    void transact(job_list jobs);
    attempt try_once(const job_list& jobs, bool serving);
    std::vector<attendance::served> serve_all();
    void tell_readers(const error& cause);
    void finish(job_list jobs, const error& cause, bool maybe);
    void arm_timer();
    void leave();

    std::unique_ptr<store> file_;
    std::shared_ptr<mailbox> inbox_;
    std::shared_ptr<clock> time_;
    const milliseconds poll_;
    claims claims_;
    attendance readers_;
    workplace place_;
    instant next_look_{};
    instant next_expiry_look_{};
    clock::timer_id timer_ = 0;
    std::optional<std::int64_t> timer_due_;
    std::uint64_t commits_ = 0;
};

}  // namespace shove::sqlite_backend
