#include "metric_catalog.hpp"

#include <array>
#include <string_view>

#include "meters.hpp"

namespace shove {
namespace {

using names = std::string_view;
using enum metric_kind;

constexpr std::array<names, 1> topic{"topic"};
constexpr std::array<names, 2> topic_outcome{"topic", "outcome"};
constexpr std::array<names, 2> topic_group{"topic", "consumer_group"};
constexpr std::array<names, 3> topic_group_outcome{"topic", "consumer_group", "outcome"};
constexpr std::array<names, 3> topic_group_reason{"topic", "consumer_group", "reason"};
constexpr std::array<names, 1> group{"consumer_group"};
constexpr std::array<names, 2> group_direction{"consumer_group", "direction"};
constexpr std::array<names, 1> backend{"backend"};
constexpr std::array<names, 2> backend_kind{"backend", "kind"};
constexpr std::array<names, 2> backend_result{"backend", "result"};

/// In the order of `detail::family`.
constexpr std::array<metric_info, 24> catalog{{
    {"messages_consumed_total", counter, topic_group_outcome, "Messages whose handler call ended, by its outcome."},
    {"messages_failed_total", counter, topic_group_reason,
     "Messages that failed for good, by reason; and calls that ran out of time."},
    {"messages_discarded_total", counter, topic_group_reason,
     "Messages that are gone because their topic has no dead-letter queue."},
    {"message_processing_duration_seconds", histogram, topic_group_outcome, "Time of a handler call, a batch's as one.",
     detail::time_bounds},
    {"message_size_bytes", histogram, topic_group, "Payload of each message received.", detail::size_bounds},
    {"messages_inflight", gauge, topic_group, "Messages in a handler now."},
    {"stuck_handlers", gauge, topic_group, "Handler calls that run on after timeout and grace."},
    {"consumers", gauge, topic_group, "Consumers that run now."},
    {"leases_lost_total", counter, topic_group,
     "Messages that were lost to another consumer before they were settled."},
    {"settle_retries_total", counter, topic_group, "Settlements that the broker did not take at once."},
    {"messages_published_total", counter, topic_outcome, "Messages given to the broker, by whether it stored them."},
    {"message_publish_duration_seconds", histogram, topic_outcome,
     "Time of a publish until it was confirmed, a batch's as one.", detail::time_bounds},
    {"queue_backlog", gauge, topic, "Messages that wait in the queue."},
    {"queue_inflight", gauge, topic, "Messages that some consumer holds."},
    {"queue_delayed", gauge, topic, "Messages that wait for a later time."},
    {"queue_dead_letters", gauge, topic, "Messages in the dead-letter queue."},
    {"queue_oldest_age_seconds", gauge, topic, "Age of the oldest message that waits; 0 if none does."},
    {"autoscaler_decisions_total", counter, group_direction, "Decisions of the autoscaler: hold, up, down."},
    {"autoscaler_messages_ready", gauge, group, "Waiting messages that the autoscaler saw."},
    {"autoscaler_messages_in_flight", gauge, group, "Messages in its consumers' hands that the autoscaler saw."},
    {"autoscaler_active_consumers", gauge, group, "Consumers that the autoscaler saw."},
    {"backend_errors_total", counter, backend_kind, "Operations that the broker or the way to it failed."},
    {"consumers_respawned_total", counter, backend, "Consumers that took a dead one's place."},
    {"audit_records_total", counter, backend_result, "Audit records: written, failed, dropped."},
}};

}  // namespace

std::span<const metric_info> metric_catalog() noexcept {
    return catalog;
}

const metric_info& detail::info_of(family which) noexcept {
    return catalog[static_cast<std::size_t>(which)];
}

}  // namespace shove
