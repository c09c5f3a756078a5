#pragma once

#include <shove/clock.hpp>

#include <cstdint>

namespace shove {

/// Where a subscription to a broadcast begins.
struct broadcast_start {
    enum class kind : std::uint8_t {
        tail,  ///< With what is published from now on.
        head,  ///< With the oldest message that is kept.
        time,  ///< With the first message published at `when` or later.
    };
    kind from = kind::tail;
    wall_time when{};

    static constexpr broadcast_start tail() noexcept { return {}; }
    /// Where the backend keeps a history (`spi::capabilities::broadcast_history`).
    static constexpr broadcast_start head() noexcept { return {kind::head, {}}; }
    /// Where the backend keeps a history.
    static constexpr broadcast_start at(wall_time when) noexcept { return {kind::time, when}; }

    friend bool operator==(const broadcast_start&, const broadcast_start&) = default;
};

/// How a broadcast is subscribed to.
struct broadcast_options {
    broadcast_start from = broadcast_start::tail();
};

}  // namespace shove
