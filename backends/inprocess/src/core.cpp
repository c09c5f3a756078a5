#include "core.hpp"

#include <shove/spi/reader_fit.hpp>

#include <algorithm>

namespace shove::in_memory {
namespace {

/// What a topology asks for and this backend does not have; empty: nothing.
std::string_view beyond_us(const queue_topology& topology) noexcept {
    return topology.external ? "external()" : "";
}

}  // namespace

error closed_error() {
    return {errc::closed, "this in-process broker was closed: open another one"};
}

queue& core::find_or_add(const std::string& name, queue::kind what) {
    return queues_.find_or_add(name, [&] {
        auto made = std::make_unique<queue>(name, what, settings_, positions_, clock_, weak_from_this());
        if (closed()) made->close();
        return made;
    });
}

std::unique_ptr<queue> core::make_queue(const std::string& name, std::weak_ptr<const void> owner) {
    return std::make_unique<queue>(name, queue::kind::store, settings_, positions_, clock_, std::move(owner));
}

error core::check_kind(const queue& found, bool broadcast) const {
    const bool relays = found.what() == queue::kind::relay;
    if (relays == broadcast) return {};
    return {errc::invalid_topology, "queue '" + found.name() + "' was declared " +
                                        (relays ? "as a broadcast; use it with broadcast()"
                                                : "without broadcast(); use it without, or give another name")};
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
    const auto exists = [this](const std::string& name) { return find(name) != nullptr; };
    if (auto wrong = spi::check_reader_fit(topology, exists)) return wrong;
    const auto targets = topology.targets();
    const auto places = topology.places();
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (auto wrong = declare_reader(targets[i], topology.broadcast, places[i])) return wrong;
    }
    if (topology.dead_letter_queue.empty()) return {};
    find_or_add(topology.dead_letter_queue);
    std::lock_guard guard(declaring_);
    for (const auto& name : places)
        dead_letter_queues_.insert_or_assign(name, topology.dead_letter_queue);
    return {};
}

error core::declare_reader(const std::string& target, bool broadcast, const std::string& place) {
    auto& from = find_or_add(target, broadcast ? queue::kind::relay : queue::kind::store);
    if (auto wrong = check_kind(from, broadcast)) return wrong;
    if (place == target) return {};
    auto& to = find_or_add(place);
    if (auto wrong = check_kind(to, false)) return wrong;
    const auto cause = from.feed(to);
    if (cause == errc::closed) return closed_error();
    if (cause == errc::ok) return {};
    return {cause, "queue '" + place + "' reads from another queue than '" + target + "'; name the reader differently"};
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
