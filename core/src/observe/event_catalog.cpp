#include <array>
#include <string_view>

#include "happening.hpp"

namespace shove {
namespace {

using names = std::string_view;
using enum log_level;

constexpr std::array<names, 1> error_only{"error"};
constexpr std::array<names, 1> queue{"queue"};
constexpr std::array<names, 2> queue_error{"queue", "error"};
constexpr std::array<names, 2> queue_count{"queue", "count"};
constexpr std::array<names, 2> queue_message{"queue", "message_id"};
constexpr std::array<names, 1> consumers{"consumers"};
constexpr std::array<names, 3> run_end{"exit_code", "left", "stuck"};
constexpr std::array<names, 4> queue_reason_message_attempt{"queue", "reason", "message_id", "attempt"};
constexpr std::array<names, 4> scaled{"queue", "change", "consumers", "reason"};
constexpr std::array<names, 3> queue_message_error{"queue", "message_id", "error"};

/// In the order of `detail::happening`.
constexpr std::array<event_info, 29> catalog{{
    {"group_started", info, consumers, "A consumer group runs; how many consumers it began with."},
    {"group_drained", info, run_end, "A consumer group has ended."},
    {"group_start_failed", error, error_only, "A group that was run without blocking could not start."},
    {"subscribe_failed", warning, queue_error, "A consumer cannot subscribe yet, and goes on trying."},
    {"consumer_ended", warning, queue_error, "A consumer ended by an error that trying again does not help."},
    {"consumer_panicked", error, queue_error, "A consumer ended by an exception of the engine itself."},
    {"consumers_respawned", info, queue_count, "New consumers took the place of those that ended."},
    {"respawn_failed", warning, queue_error, "Consumers cannot be replaced now."},
    {"respawn_opened", error, queue_count,
     "So many attempts to replace consumers failed: from now on a single probe now and then."},
    {"respawn_probing", warning, queue, "One consumer is tried."},
    {"respawn_closed", info, queue, "Consumers stay up again."},
    {"factory_failed", warning, queue_error, "The user's factory of handlers threw."},
    {"receive_failed", warning, queue_error, "Receiving failed; tried again with growing pauses, and told once."},
    {"receive_recovered", info, queue, "Receiving works again."},
    {"settle_failed", warning, queue_error, "A settlement was not taken; tried again until it is, and told once."},
    {"close_failed", warning, queue_error, "A subscription did not close cleanly."},
    {"leases_lost", warning, queue_count, "Messages went to another consumer before they were settled."},
    {"shard_lost", warning, queue, "A shard of a sequenced topic went to another consumer."},
    {"handler_stuck", warning, queue_message, "A handler runs on after its timeout and grace."},
    {"message_dead_lettered", info, queue_reason_message_attempt, "A message goes to the dead-letter queue."},
    {"message_discarded", warning, queue_reason_message_attempt,
     "A message failed for good and there is no dead-letter queue."},
    {"key_poisoned", info, queue_message, "A message of a sequenced topic failed for good, and its key with it."},
    {"consumers_scaled", info, scaled, "The autoscaler changed the number of consumers."},
    {"scaling_depth_unknown", warning, queue_error, "The autoscaler cannot learn a queue's depth; told once."},
    {"scaling_strategy_failed", error, queue_error, "The user's scaling strategy threw."},
    {"scaling_callback_failed", error, error_only, "The user's on_decision threw."},
    {"audit_failed", error, queue_message_error, "An audit record could not be written; the outcome stands."},
    {"audit_dropped", error, queue_count, "Audit records did not fit into the outbox; the outcomes stand."},
    {"tracer_failed", error, error_only, "The user's tracer threw; the work goes on without a span."},
}};

}  // namespace

std::span<const event_info> event_catalog() noexcept {
    return catalog;
}

const event_info& detail::info_of(happening what) noexcept {
    return catalog[static_cast<std::size_t>(what)];
}

std::string_view to_string(log_level level) noexcept {
    switch (level) {
        case debug:
            return "debug";
        case info:
            return "info";
        case warning:
            return "warning";
        case error:
            return "error";
    }
    return "info";
}

}  // namespace shove
