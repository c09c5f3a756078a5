#pragma once

#include <shove/admin.hpp>
#include <shove/broker.hpp>

#include <string>

#include "command.hpp"
#include "topology_settings.hpp"

namespace shove::cli {

/// What the subcommands of `shove dlq` have in common.
struct dlq_command {
    std::string queue;
    std::string dead_queue;  ///< Empty: found by the queue.
    std::string target;      ///< `replay` only.
    topology_flags topology;
    letter_filter filter;
    bool dry_run = false;
};

/// The dead-letter queue that is meant. Throws `failure`, `usage_failure`.
std::string dead_queue_for(const any_broker& broker, const dlq_command& options);

exit_code list_letters(session& with, const dlq_command& options);
exit_code replay_letters(session& with, const dlq_command& options);
exit_code purge_letters(session& with, const dlq_command& options);

}  // namespace shove::cli
