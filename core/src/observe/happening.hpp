#pragma once

#include <shove/event.hpp>

#include <cstdint>

namespace shove::detail {

/// What the engine tells, in the order of `event_catalog`.
enum class happening : std::uint8_t {
    group_started,
    group_drained,
    group_start_failed,
    subscribe_failed,
    consumer_ended,
    consumer_panicked,
    consumers_respawned,
    respawn_failed,
    respawn_opened,
    respawn_probing,
    respawn_closed,
    factory_failed,
    receive_failed,
    receive_recovered,
    settle_failed,
    close_failed,
    leases_lost,
    shard_lost,
    handler_stuck,
    message_dead_lettered,
    message_discarded,
    key_poisoned,
    consumers_scaled,
    scaling_depth_unknown,
    scaling_strategy_failed,
    scaling_callback_failed,
    audit_failed,
    audit_dropped,
    tracer_failed,
};

const event_info& info_of(happening what) noexcept;

}  // namespace shove::detail
