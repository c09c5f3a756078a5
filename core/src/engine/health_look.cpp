#include "health_look.hpp"

#include "blocking.hpp"
#include "broker_core.hpp"
#include "depths.hpp"
#include "group_core.hpp"

namespace shove::detail {
namespace {

void look_at(broker_core& core, const group_core::consumed& what, milliseconds starving_after, health_report& report) {
    const auto since = std::chrono::duration_cast<milliseconds>(core.clock().now() - what.last_received);
    if (what.consumers == 0 || since < starving_after) return;
    const auto depth = wait_for<result<spi::queue_depth>>(
        [&](auto done) { add_up_depths(core.driver(), what.places, std::move(done)); });
    const auto& queue = what.topology->reader_queue;
    if (!depth) {
        report.unknown.push_back("the depth of '" + queue + "': " + depth.error().message());
        return;
    }
    const auto oldest = depth->oldest_age.value_or(milliseconds(0));
    if (depth->ready == 0 || oldest < starving_after) return;
    report.starving.push_back({queue, what.consumers, depth->ready, oldest, since});
}

}  // namespace

health_report look_at_health(broker_core& core, milliseconds starving_after) {
    health_report report;
    for (const auto& group : core.groups()) {
        group->report_stuck(report.stuck);
        for (const auto& each : group->consumes())
            look_at(core, each, starving_after, report);
    }
    return report;
}

}  // namespace shove::detail
