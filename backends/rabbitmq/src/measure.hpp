#pragma once

#include <shove/spi/driver.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "census.hpp"
#include "control.hpp"

namespace shove::rabbitmq_backend {

/// What this process has of a queue.
struct own_share {
    std::size_t unsettled = 0;
    std::size_t consumers = 0;
};

/// Counts a queue. Ready and delayed messages are as the server has them now. In flight are those of this process;
/// where the queue has other consumers, too, there may be more, and the broker's note is taken if it says so. Such
/// notes lag by up to 5 s, which is why they are not believed where nobody else consumes: messages would be in flight
/// long after all were settled. So what another client holds that does not consume (`basic.get`) is not counted.
///
/// A message that moves on while its queues are counted may be missed, so nothing is said to be there only if that was
/// seen twice.
/// @param waiting  The queues in which messages wait for this one.
/// @param noted    The broker's notes; null: none.
/// @return  Nothing: there is no such queue.
std::optional<spi::queue_depth> measure(ask_channel& over, const std::string& queue,
                                        std::span<const std::string> waiting, const queue_stats* noted,
                                        const std::function<own_share()>& own, wall_time now);

/// The same of the notes alone.
spi::queue_depth measure(const queue_stats& noted, own_share own, wall_time now);

}  // namespace shove::rabbitmq_backend
