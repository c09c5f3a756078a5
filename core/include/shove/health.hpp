#pragma once

#include <shove/run_outcome.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace shove {

/// Consumers that get nothing though there is something.
struct starving_consumers {
    std::string queue;
    std::uint64_t consumers = 0;
    std::uint64_t ready = 0;         ///< Messages that wait.
    milliseconds oldest{0};          ///< Age of the oldest of them.
    milliseconds since_received{0};  ///< Since one of these consumers was given a message, or since they began.
};

/// What a broker's groups look like now: see `broker::health`.
struct health_report {
    std::vector<stuck_call> stuck;  ///< Calls that run on after timeout and grace.
    std::vector<starving_consumers> starving;
    std::vector<std::string> unknown;  ///< Why a queue's depth is not known, if it is not.

    bool good() const noexcept { return stuck.empty() && starving.empty() && unknown.empty(); }
};

}  // namespace shove
