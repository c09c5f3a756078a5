#pragma once

#include <shove/clock.hpp>

#include <algorithm>
#include <chrono>

namespace shove::rabbitmq_backend {

/// A little before a deadline that the engine watches, too: whoever waits hears why nothing happened, rather than
/// nothing at all. A deadline in the past stays as it is.
inline steady_time answered_by(steady_time deadline) {
    using duration = steady_time::duration;
    const auto now = std::chrono::steady_clock::now();
    if (deadline <= now || deadline == steady_time::max()) return deadline;
    return deadline - std::min<duration>((deadline - now) / 10, std::chrono::milliseconds(50));
}

}  // namespace shove::rabbitmq_backend
