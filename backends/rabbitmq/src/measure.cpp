#include "measure.hpp"

#include <algorithm>

#include "layout.hpp"

namespace shove::rabbitmq_backend {
namespace {

std::optional<milliseconds> age_of(const queue_stats& noted, wall_time now) {
    if (!noted.head_published) return std::nullopt;
    return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(now - *noted.head_published));
}

std::optional<spi::queue_depth> measure_once(ask_channel& over, const std::string& queue,
                                             std::span<const std::string> waiting, const queue_stats* noted,
                                             const std::function<own_share()>& own, wall_time now) {
    spi::queue_depth made;
    for (const auto& name : waiting)
        made.delayed += count_ready(over, name).value_or(0);
    const auto mine = own();
    const auto told = count(over, queue);
    if (!told) return std::nullopt;
    made.ready = told->ready;
    made.in_flight = mine.unsettled;
    if (!noted) return made;
    if (told->consumers > mine.consumers)
        made.in_flight = std::max<std::uint64_t>(made.in_flight, noted->unacknowledged);
    if (told->ready > 0) made.oldest_age = age_of(*noted, now);
    return made;
}

}  // namespace

std::optional<spi::queue_depth> measure(ask_channel& over, const std::string& queue,
                                        std::span<const std::string> waiting, const queue_stats* noted,
                                        const std::function<own_share()>& own, wall_time now) {
    const auto once = [&] { return measure_once(over, queue, waiting, noted, own, now); };
    const auto first = once();
    const bool empty = first && first->ready + first->in_flight + first->delayed == 0;
    return empty ? once() : first;
}

spi::queue_depth measure(const queue_stats& noted, own_share own, wall_time now) {
    spi::queue_depth made;
    made.ready = noted.ready;
    made.in_flight = std::max<std::uint64_t>(own.unsettled, noted.unacknowledged);
    if (noted.ready > 0) made.oldest_age = age_of(noted, now);
    return made;
}

}  // namespace shove::rabbitmq_backend
