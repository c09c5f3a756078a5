#pragma once

#include "plan.hpp"

#include <filesystem>
#include <string>

namespace shove::bench {

/// Where a run works: the plan's URL made fresh. An in-process queue gets the capacity; a SQLite file gets a name of
/// its own beside the one in the URL and is removed afterwards; on a broker the queue gets a name of its own, and
/// stays.
class target {
public:
    explicit target(const plan& of);
    ~target();
    target(const target&) = delete;
    target& operator=(const target&) = delete;

    const std::string& url() const noexcept { return url_; }
    const std::string& queue() const noexcept { return queue_; }
    /// True if nobody but this process can reach the queue.
    bool private_to_process() const noexcept { return private_; }

private:
    std::string url_;
    std::string queue_ = "shove-bench";
    std::filesystem::path file_;  // empty: none
    bool private_ = false;
};

}  // namespace shove::bench
