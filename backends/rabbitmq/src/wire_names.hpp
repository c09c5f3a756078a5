#pragma once

#include <algorithm>
#include <array>
#include <string_view>

/// The names of headers on the wire that mean something to this backend or to the broker.
namespace shove::rabbitmq_backend::wire_names {

// Ours: they hold parts of a message, or its history.
inline constexpr std::string_view message_id = "x-message-id";
inline constexpr std::string_view retry_count = "x-retry-count";
inline constexpr std::string_view published_at = "x-shove-published-at";
inline constexpr std::string_view expires_at = "x-shove-expires-at";
inline constexpr std::string_view key = "x-shove-key";
inline constexpr std::string_view crashes = "x-shove-crashes";
inline constexpr std::string_view first_error = "x-shove-first-error";
inline constexpr std::string_view last_error = "x-shove-last-error";
inline constexpr std::string_view first_failed_at = "x-shove-first-failed-at";
inline constexpr std::string_view last_failed_at = "x-shove-last-failed-at";
inline constexpr std::string_view death_reason = "x-shove-death-reason";
inline constexpr std::string_view original_queue = "x-shove-original-queue";
inline constexpr std::string_view death_count = "x-shove-death-count";
inline constexpr std::string_view dead_at = "x-shove-dead-at";
inline constexpr std::string_view x_death = "x-death";

/// The driver's own notes: not shown to handlers, not copied.
inline constexpr std::string_view driver_prefix = "x-shove-driver-";

/// In a message, not on the wire: a property of another client, by its name.
inline constexpr std::string_view property_prefix = "x-shove-amqp-";
/// In a message, not on the wire: which of its headers had which AMQP type (see `type_memory`).
inline constexpr std::string_view types = "x-shove-amqp-types";
/// In a message: the header whose name on the wire is empty.
inline constexpr std::string_view unnamed = "x-shove-amqp-unnamed";
/// On the wire: a header of a message whose own name would mean something to the broker.
inline constexpr std::string_view kept_prefix = "x-shove-amqp-kept-";

/// Written by the broker, for each stay in a queue.
inline bool is_brokers(std::string_view name) noexcept {
    constexpr std::array<std::string_view, 8> names{"x-death",
                                                    "x-delivery-count",
                                                    "x-first-death-exchange",
                                                    "x-first-death-queue",
                                                    "x-first-death-reason",
                                                    "x-last-death-exchange",
                                                    "x-last-death-queue",
                                                    "x-last-death-reason"};
    return name.starts_with("x-") && std::ranges::find(names, name) != names.end();
}

/// Would have the broker do something: deliver a copy elsewhere too (`CC`, `BCC`), or take it for its own note.
inline bool must_be_renamed(std::string_view name) noexcept {
    return name == "CC" || name == "BCC" || is_brokers(name);
}

}  // namespace shove::rabbitmq_backend::wire_names
