#pragma once

#include <shove/spi/delivery.hpp>

namespace shove::detail {

/// True if it tells of a death.
inline bool is_dead(const spi::history& past) noexcept {
    return past.death_count != 0 || !past.death_reason.empty();
}

/// True if nothing has ever happened to a message with this history.
inline bool is_blank(const spi::history& past) noexcept {
    return past.retries == 0 && past.crashes == 0 && past.first_error.empty() && past.last_error.empty() &&
           past.first_failed_at == wall_time{} && past.last_failed_at == wall_time{} && past.death_reason.empty() &&
           past.original_queue.empty() && past.death_count == 0 && past.dead_at == wall_time{};
}

}  // namespace shove::detail
