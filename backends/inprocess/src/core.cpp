#include "core.hpp"

#include <algorithm>

namespace shove::in_memory {
namespace {

/// What a topology asks for and this backend does not have; empty: nothing.
std::string_view beyond_us(const queue_topology& topology) noexcept {
    if (topology.broadcast) return "broadcast()";
    if (topology.external) return "external()";
    if (!topology.reader_group.empty()) return "for_consumer_group()";
    return {};
}

}  // namespace

error closed_error() {
    return {errc::closed, "this in-process broker was closed: open another one"};
}

queue& core::find_or_add(const std::string& name) {
    return queues_.find_or_add(name, [&] {
        auto made = std::make_unique<queue>(name, settings_, positions_, clock_, weak_from_this());
        if (closed()) made->close();
        return made;
    });
}

error core::missing(std::string_view name) const {
    if (closed()) return closed_error();
    return {errc::unknown_queue, "queue '" + std::string(name) +
                                     "' was never declared on this in-process broker: declare its topology first"};
}

error core::declare(const queue_topology& topology) {
    if (closed()) return closed_error();
    if (const auto what = beyond_us(topology); !what.empty()) {
        return {errc::unsupported,
                "queue '" + topology.queue + "': the in-process backend has no " + std::string(what)};
    }
    const auto names = topology.sequencing ? topology.sequencing->shard_queues : std::vector{topology.queue};
    for (const auto& name : names)
        find_or_add(name);
    if (topology.dead_letter_queue.empty()) return {};
    find_or_add(topology.dead_letter_queue);
    std::lock_guard guard(declaring_);
    for (const auto& name : names)
        dead_letter_queues_.insert_or_assign(name, topology.dead_letter_queue);
    return {};
}

void core::close() {
    if (closed_.exchange(true, std::memory_order_acq_rel)) return;
    for (queue* q : queues_.all())
        q->close();
}

std::vector<spi::queue_info> core::list() {
    std::vector<spi::queue_info> rows;
    for (queue* q : queues_.all())
        rows.push_back({q->name(), q->depth(), {}, 0});
    std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    std::lock_guard guard(declaring_);
    for (auto& row : rows) {
        const auto dead = dead_letter_queues_.find(row.name);
        if (dead == dead_letter_queues_.end()) continue;
        row.dead_letter_queue = dead->second;
        const auto depth = queues_.find(dead->second)->depth();
        row.dead = depth.ready + depth.in_flight + depth.delayed;
    }
    return rows;
}

}  // namespace shove::in_memory
