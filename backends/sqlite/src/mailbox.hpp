#pragma once

#include "publish_job.hpp"

#include <shove/clock.hpp>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

namespace shove::sqlite_backend {

/// Where jobs wait for the writer. Publishes are bounded: beyond that they wait for room, in order,
/// until their deadline.
/// @par Thread safety  Safe.
class mailbox : public std::enable_shared_from_this<mailbox> {
public:
    struct limits {
        std::size_t messages = 65'536;
        std::size_t bytes = 64 * 1024 * 1024;
        /// A transaction takes no more publishes than this, so that its others do not wait long.
        std::size_t messages_at_once = 4096;
        std::size_t bytes_at_once = 8 * 1024 * 1024;
    };

    explicit mailbox(limits bounds) : limits_(bounds) {}

    /// Refuses the job if the driver is closed.
    void post(std::unique_ptr<job> what);
    void publish(std::unique_ptr<publish_job> what, clock& time);
    /// Wakes the writer.
    void ring();
    /// No more jobs. What is in stays in.
    void shut();
    bool is_shut() const;

    /// For the writer. Waits for a job, a ring or the end of `patience`, then takes all jobs, as many publishes
    /// as a transaction may have last.
    job_list take(std::optional<std::chrono::steady_clock::duration> patience);
    /// For the writer: makes room again for what `take` has given.
    void written(std::size_t messages, std::size_t bytes, clock& time);
    /// Refuses everything that is still in.
    void refuse_all(const error& cause, clock& time);

private:
    struct waiting_publish {
        std::uint64_t ticket = 0;
        clock::timer_id timer = 0;
        std::unique_ptr<publish_job> what;
    };
    bool has_room(const publish_job& what) const;
    void admit(std::unique_ptr<publish_job> what);
    void arm(std::uint64_t ticket, steady_time deadline, clock& time);
    void expire(std::uint64_t ticket);
    void take_publishes(job_list& into);
    error full() const;

    const limits limits_;
    mutable std::mutex guard_;
    std::condition_variable change_;
    bool rung_ = false;
    bool shut_ = false;
    std::size_t messages_ = 0;  ///< Of publishes admitted and not yet written.
    std::size_t bytes_ = 0;
    std::uint64_t last_ticket_ = 0;
    job_list others_;
    std::deque<std::unique_ptr<publish_job>> publishes_;
    std::list<waiting_publish> waiting_;
};

/// What a closed driver answers.
error closed_error();

}  // namespace shove::sqlite_backend
