#include "measure.hpp"

#include <algorithm>

#include "layout.hpp"

namespace shove::rabbitmq_backend {
namespace {

std::optional<milliseconds> age_of(const queue_stats& noted, wall_time now) {
    if (!noted.head_published) return std::nullopt;
    return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(now - *noted.head_published));
}

std::optional<measured> measure_once(ask_channel& over, const std::string& queue, std::span<const std::string> waiting,
                                     const queue_stats* noted, const std::function<own_share()>& own, wall_time now) {
    measured made;
    for (const auto& name : waiting)
        made.depth.delayed += count_ready(over, name).value_or(0);
    const auto mine = own();
    const auto told = count(over, queue);
    if (!told) return std::nullopt;
    made.depth.ready = told->ready;
    made.consumers = told->consumers;
    made.depth.in_flight = mine.unsettled;
    if (!noted) return made;
    if (told->consumers > mine.consumers)
        made.depth.in_flight = std::max<std::uint64_t>(made.depth.in_flight, noted->unacknowledged);
    if (told->ready > 0) made.depth.oldest_age = age_of(*noted, now);
    return made;
}

}  // namespace

std::optional<measured> measure(ask_channel& over, const std::string& queue, std::span<const std::string> waiting,
                                const queue_stats* noted, const std::function<own_share()>& own, wall_time now) {
    const auto once = [&] { return measure_once(over, queue, waiting, noted, own, now); };
    const auto first = once();
    const bool empty = first && first->depth.ready + first->depth.in_flight + first->depth.delayed == 0;
    return empty ? once() : first;
}

measured measure(const queue_stats& noted, own_share own, wall_time now) {
    measured made;
    made.depth.ready = noted.ready;
    made.depth.in_flight = std::max<std::uint64_t>(own.unsettled, noted.unacknowledged);
    made.consumers = noted.consumers;
    if (noted.ready > 0) made.depth.oldest_age = age_of(noted, now);
    return made;
}

}  // namespace shove::rabbitmq_backend
