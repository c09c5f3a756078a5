#pragma once

#include <shove/batch.hpp>
#include <shove/consumer_options.hpp>
#include <shove/topology.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace shove::detail {

/// How a topic is consumed, decided for every field of `consumer_options`.
struct consumer_settings {
    consumer_range consumers;
    std::size_t prefetch = 0;
    bool concurrent = true;
    std::uint32_t max_retries = 0;
    std::optional<milliseconds> handler_timeout;
    outcome timeout_outcome = retry;
    milliseconds timeout_grace{0};
    std::size_t max_message_bytes = 0;
    std::uint32_t crash_budget = 0;
    std::size_t max_pending_per_key = 0;
    std::size_t reorder_window = 0;
    std::size_t reorder_window_bytes = 0;
    std::shared_ptr<audit_trail> audit;
};

/// The options of a registration, completed by its group's and then by the library's.
consumer_settings settle_options(const consumer_options& own, const consumer_options& group);

/// Throws `exception` (`invalid_argument`) if a setting breaks a rule; the text names it and the queue.
void check_settings(const consumer_settings& settings, const std::string& queue);

/// The same for a registration that is handled in batches.
void check_batch(const batch_options& batch, const consumer_settings& settings, const queue_topology& topology);

}  // namespace shove::detail
