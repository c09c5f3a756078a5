#pragma once

#include "strike_register.hpp"
#include "timeline.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace main_job {

struct dead_count {
    std::string reason;  ///< Reason and detail, for people.
    std::uint64_t letters = 0;
};

/// What the job did.
struct job_result {
    std::uint64_t published = 0;
    std::uint64_t acked = 0;
    std::uint64_t retried = 0;  ///< Calls that ended in retry.
    std::uint64_t dead = 0;
    std::vector<dead_count> dead_by_reason;
    double seconds = 0;  ///< First publish to the last settlement.
    std::uint64_t replayed = 0;
    std::string replayed_id;
    std::uint64_t handled_after_fix = 0;
    std::uint64_t dead_after_fix = 0;
    std::uint64_t filed = 0;  ///< By the register's own count, at the end.
    std::uint64_t left_in_queue = 0;

    /// What does not add up, in words; empty: everything does.
    std::vector<std::string> mistakes() const;
};

/// Publishes the records of a file to a fresh SQLite queue, works them, looks through the dead letters, replays
/// one after a fix. Prints its progress.
class job {
public:
    /// @param database  Removed first, if it is there.
    job(std::filesystem::path records, std::filesystem::path database)
        : records_(std::move(records)), database_(std::move(database)) {}

    job_result run();
    const timeline& times() const noexcept { return times_; }
    const strike_register& filed() const noexcept { return register_; }

private:
    std::filesystem::path records_;
    std::filesystem::path database_;
    strike_register register_;
    timeline times_;
};

}  // namespace main_job
