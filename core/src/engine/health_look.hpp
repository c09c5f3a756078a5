#pragma once

#include <shove/clock.hpp>
#include <shove/health.hpp>

namespace shove::detail {

class broker_core;

/// See `broker::health`. Blocks.
health_report look_at_health(broker_core& core, milliseconds starving_after);

}  // namespace shove::detail
