#pragma once

#include <vector>

#include "command.hpp"
#include "topology_difference.hpp"
#include "topology_settings.hpp"

namespace shove::cli {

/// What `shove topology plan`, `apply`, `check` and `show` are given.
struct topology_request {
    std::string queue;  ///< Empty: all topics of the file.
    topology_flags flags;
};

/// The topics that are asked for. Throws `usage_failure`.
std::vector<topic_settings> asked_for(const topology_request& request);

/// What is declared, what is there, and in what the two differ.
struct comparison {
    std::vector<runtime_topic> topics;
    std::vector<spi::queue_info> there;
    std::vector<difference> differences;

    declared_topologies declared() const;
};

/// Looks at the broker's queues. Needs `capabilities::admin`. Throws `exception`, `usage_failure`.
/// @param laid_out  The settings say how the queues are laid out; else a queue is as declared with the dead letters
///                  that it has, as everywhere in the command.
comparison compare_with(const any_broker& broker, std::vector<topic_settings> asked, bool laid_out);

/// Prints in what the broker differs from what is declared. Changes nothing.
exit_code plan_topology(session& with, const topology_request& request);
/// Declares what is missing. What differs otherwise is told of and left alone; then it ends with `failure`.
exit_code apply_topology(session& with, const topology_request& request);
/// Prints the plan; ends with `failure` where there is a difference.
exit_code check_topology(session& with, const topology_request& request);

}  // namespace shove::cli
