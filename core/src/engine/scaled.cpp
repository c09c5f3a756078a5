#include "scaled.hpp"

#include <algorithm>

namespace shove::detail {
namespace {

/// What a snapshot takes from the options and the measurements.
scale_snapshot snapshot_of(const crew& members, const consumer_range& range, service_meter& meter) {
    scale_snapshot seen;
    seen.queue = members.plan().queue();
    seen.min = range.min;
    seen.max = range.max;
    seen.prefetch = members.plan().options.prefetch;
    seen.calls_at_once = members.calls_at_once();
    seen.service_time = meter.mean();
    return seen;
}

}  // namespace

scaled_crew::scaled_crew(std::shared_ptr<respawner> keeper)
    : keeper_(std::move(keeper)), meter_(std::make_shared<service_meter>()) {
    keeper_->members().measure(meter_);
}

scale_snapshot scaled_crew::look() const {
    const auto& members = keeper_->members();
    auto seen = snapshot_of(members, members.plan().options.consumers, *meter_);
    const auto head = members.count();
    seen.in_flight = head.held;
    seen.consumers = head.live;
    seen.busy = head.busy;
    return seen;
}

std::uint32_t scaled_crew::engage(std::uint32_t n) {
    const auto made = keeper_->members().engage(n);
    keeper_->members().raise_target(made);
    return made;
}

scaled_shards::scaled_shards(std::vector<std::shared_ptr<respawner>> keepers)
    : keepers_(std::move(keepers)),
      meter_(std::make_shared<service_meter>()),
      consumers_(keepers_.front()->members().plan().calls->min) {
    for (const auto& k : keepers_)
        k->members().measure(meter_);
    spread();
}

std::vector<std::string> scaled_shards::places() const {
    std::vector<std::string> all;
    all.reserve(keepers_.size());
    for (const auto& k : keepers_)
        all.push_back(k->members().plan().place());
    return all;
}

scale_snapshot scaled_shards::look() const {
    const auto& first = keepers_.front()->members();
    auto seen = snapshot_of(first, *first.plan().calls, *meter_);
    std::size_t running = 0;
    std::size_t shards_read = 0;
    for (const auto& k : keepers_) {
        const auto head = k->members().count();
        seen.in_flight += head.held;
        running += head.running;
        shards_read += head.live;
    }
    const auto each = std::max<std::size_t>(1, seen.calls_at_once);
    seen.consumers = static_cast<std::uint32_t>(consumers_ * shards_read / keepers_.size());
    seen.busy = static_cast<std::uint32_t>(std::min<std::size_t>((running + each - 1) / each, seen.consumers));
    return seen;
}

std::uint32_t scaled_shards::engage(std::uint32_t n) {
    consumers_ += n;
    spread();
    return n;
}

std::uint32_t scaled_shards::retire(std::uint32_t n) {
    const auto seen = look();
    const auto idle = seen.consumers - seen.busy;
    const auto fewer = std::min(n, idle);
    consumers_ -= fewer;
    spread();
    return fewer;
}

void scaled_shards::look_soon() {
    for (const auto& k : keepers_)
        k->look_soon();
}

/// Shares out the calls of all consumers over the shards, at least one each.
void scaled_shards::spread() {
    const auto all = consumers_ * keepers_.front()->members().plan().calls_at_once();
    const auto shards = keepers_.size();
    for (std::size_t i = 0; i < shards; ++i)
        keepers_[i]->members().limit_calls(std::max<std::size_t>(1, all / shards + (i < all % shards ? 1 : 0)));
}

}  // namespace shove::detail
