#pragma once

#include <shove/metrics.hpp>

#include <cstdint>

namespace shove::detail {

/// The families by name, in the order of `metric_catalog`.
enum class family : std::uint8_t {
    consumed,
    failed,
    discarded,
    processing_time,
    size,
    in_flight,
    stuck,
    consumers,
    leases_lost,
    settle_retries,
    published,
    publish_time,
    backlog,
    queue_in_flight,
    delayed,
    dead_letters,
    oldest_age,
    decisions,
    scaled_ready,
    scaled_in_flight,
    scaled_consumers,
    backend_errors,
    respawned,
    audit_records,
};

const metric_info& info_of(family which) noexcept;

}  // namespace shove::detail
