#include "depth_sampler.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "broker_core.hpp"
#include "depths.hpp"
#include "group_core.hpp"

namespace shove::detail {
namespace {

void ask(broker_core& broker, const std::string& topic, const std::vector<std::string>& places,
         const std::string& dead_letters) {
    // Answers may come late: they find the meters, not the sampler.
    const auto meters = broker.board()->depth(topic);
    add_up_depths(broker.driver(), places, [meters](const result<spi::queue_depth>& depth) {
        if (!depth) return;
        meters->backlog.set(depth->ready);
        meters->in_flight.set(depth->in_flight);
        meters->delayed.set(depth->delayed);
        const auto age = depth->oldest_age.value_or(milliseconds(0)).count();
        meters->oldest_ms.set(static_cast<std::uint64_t>(std::max<std::int64_t>(0, age)));
    });
    if (dead_letters.empty()) return;
    broker.driver().depth(dead_letters, [meters](const result<spi::queue_depth>& depth) {
        if (depth) meters->dead_letters.set(depth->ready);
    });
}

}  // namespace

depth_sampler::depth_sampler(std::weak_ptr<broker_core> broker, shove::clock& clock, milliseconds every)
    : broker_(std::move(broker)), every_(every), alarm_(clock) {}

void depth_sampler::plan() {
    const auto broker = broker_.lock();
    if (!broker) return;
    alarm_.set(broker->clock().now() + every_, [weak = weak_from_this()] {
        const auto self = weak.lock();
        const auto owner = self ? self->broker_.lock() : nullptr;
        if (!owner) return;
        self->plan();
        owner->supervising().post([weak] {
            if (auto same = weak.lock()) same->look();
        });
    });
}

void depth_sampler::look() {
    const auto broker = broker_.lock();
    if (!broker || broker->closed()) return;
    for (const auto& group : broker->groups()) {
        for (const auto& each : group->consumes())
            ask(*broker, each.topology->reader_queue, each.places, each.topology->dead_letter_queue);
    }
}

}  // namespace shove::detail
