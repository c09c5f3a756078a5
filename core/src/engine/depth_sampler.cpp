#include "depth_sampler.hpp"

#include "broker_core.hpp"
#include "depths.hpp"
#include "group_core.hpp"

namespace shove::detail {

depth_sampler::depth_sampler(broker_core& broker, milliseconds every)
    : broker_(broker), every_(every), alarm_(broker.clock()) {}

void depth_sampler::plan() {
    alarm_.set(broker_.clock().now() + every_, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->plan();
        self->broker_.supervising().post([weak] {
            if (auto same = weak.lock()) same->look();
        });
    });
}

void depth_sampler::look() {
    if (broker_.closed()) return;
    for (const auto& group : broker_.groups()) {
        for (const auto& each : group->consumes())
            ask(each.topology->reader_queue, each.places, each.topology->dead_letter_queue);
    }
}

void depth_sampler::ask(const std::string& topic, const std::vector<std::string>& places,
                        const std::string& dead_letters) {
    // The meters may outlive the sampler, not the other way round: answers may come late.
    const auto meters = broker_.board()->depth(topic);
    add_up_depths(broker_.driver(), places, [meters](const result<spi::queue_depth>& depth) {
        if (!depth) return;
        meters->backlog.set(depth->ready);
        meters->in_flight.set(depth->in_flight);
        meters->delayed.set(depth->delayed);
        const auto age = depth->oldest_age.value_or(milliseconds(0)).count();
        meters->oldest_ms.set(static_cast<std::uint64_t>(std::max<std::int64_t>(0, age)));
    });
    if (dead_letters.empty()) return;
    broker_.driver().depth(dead_letters, [meters](const result<spi::queue_depth>& depth) {
        if (depth) meters->dead_letters.set(depth->ready);
    });
}

}  // namespace shove::detail
