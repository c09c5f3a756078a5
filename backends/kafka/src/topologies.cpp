#include "topologies.hpp"

#include <algorithm>
#include <utility>

#include "plan.hpp"

namespace shove::kafka_backend {

namespace {

error check_names(const names& called, const queue_topology& topology) {
    for (const auto* queue : {&topology.queue, &topology.reader_queue, &topology.dead_letter_queue}) {
        if (queue->empty()) continue;
        if (auto cause = check_topic_name(called.topic_of(*queue))) return cause;
    }
    return {};
}

bool any_record(const std::vector<log_span>& spans) {
    return std::ranges::any_of(spans, [](const log_span& each) { return each.high > each.low; });
}

}  // namespace

topologies::topologies(std::shared_ptr<control> asking) : asking_(std::move(asking)), names_(asking_->settings()) {}

void topologies::declare(std::shared_ptr<const queue_topology> topology, spi::callback<void(error)> done) {
    auto answer = std::make_shared<decltype(done)>(std::move(done));
    auto run = [this, topology, answer](rd_kafka_t* client) {
        const cluster on(client, asking_->patience());
        auto cause = check_names(names_, *topology);
        if (!cause) cause = topology->external ? verify(on, *topology) : make(on, *topology);
        if (cause) return (*answer)(asking_->explained(std::move(cause)));
        {
            const std::lock_guard lock(mutex_);
            for (const auto& place : topology->places())
                known_[place] = topology;
            known_[topology->reader_queue] = topology;
            if (topology->reader_group.empty()) known_[topology->queue] = topology;
            if (!topology->dead_letter_queue.empty()) known_[topology->dead_letter_queue] = topology;
        }
        (*answer)({});
    };
    asking_->ask(std::move(run), [answer](const error& why) { (*answer)(why); });
}

std::shared_ptr<const queue_topology> topologies::find(const std::string& queue) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(queue);
    return found == known_.end() ? nullptr : found->second;
}

error topologies::verify(const cluster& on, const queue_topology& topology) const {
    const auto there = [&](const std::string& queue, const char* role) -> error {
        if (queue.empty()) return {};
        const auto topic = names_.topic_of(queue);
        const auto count = on.partitions(topic);
        if (!count) return count.error();
        if (*count > 0) return {};
        return {errc::unknown_queue, "topic '" + topic + "', the " + role +
                                         " of an external topology, is not on this " +
                                         "Kafka cluster; who owns it must make it"};
    };
    if (auto cause = there(topology.queue, "queue")) return cause;
    return there(topology.dead_letter_queue, "dead-letter queue");
}

error topologies::make(const cluster& on, const queue_topology& topology) const {
    const auto wanted = plan(topology, asking_->settings());
    std::vector<new_topic> missing;
    for (const auto& each : wanted) {
        const auto there = on.partitions(each.make.name);
        if (!there) return there.error();
        const bool main = each.use == topic_use::messages;
        if (main && topology.sequencing && *there > 0) {
            const bool fewer = *there < each.make.partitions;
            const auto spans = fewer ? on.spans(each.make.name, *there) : std::vector<log_span>();
            if (!spans) return spans.error();
            if (auto cause = check_partitions(topology, asking_->settings(), *there, any_record(*spans))) return cause;
        }
        if (*there == 0) {
            missing.push_back(each.make);
        } else if (*there < each.make.partitions && (main || each.use == topic_use::retries)) {
            // Another process may have been quicker.
            auto cause = on.grow(each.make.name, each.make.partitions);
            const auto now = cause ? on.partitions(each.make.name) : result<int>(0);
            if (cause && !(now && *now >= each.make.partitions)) return cause;
        }
    }
    if (auto cause = on.make(missing)) return cause;
    for (const auto& each : wanted) {
        const bool fresh = std::ranges::any_of(missing, [&](const auto& m) { return m.name == each.make.name; });
        const bool waits = each.use == topic_use::retries || (each.use == topic_use::messages && topology.sequencing);
        if (fresh && !waits) continue;
        if (each.make.entries.empty() && !(waits && !topology.holds.empty())) continue;
        if (auto cause = reconcile(on, topology, each.make, waits)) return cause;
    }
    return topology.reader_group.empty() ? error() : begin_reader(on, topology);
}

error topologies::reconcile(const cluster& on, const queue_topology& topology, const new_topic& wanted,
                            bool waits) const {
    auto there = on.entries(wanted.name);
    if (!there) return there.error();
    const auto merged = merged_entries(wanted.name, *there, wanted.entries);
    if (!merged) return merged.error();
    for (const auto& [key, value] : wanted.entries)
        (*there)[key].value = value;
    if (waits) {
        if (auto cause = check_retention(topology, wanted.name, *there)) return cause;
    }
    return *merged ? on.set_entries(wanted.name, **merged) : error();
}

error topologies::begin_reader(const cluster& on, const queue_topology& topology) const {
    const auto topic = names_.topic_of(topology.queue);
    const auto group = names_.group_of(topology);
    const auto count = on.partitions(topic);
    if (!count) return count.error();
    const auto there = on.committed(group, topic, *count);
    if (!there) return there.error();
    if (there->size() == static_cast<std::size_t>(*count)) return {};
    const auto spans = on.spans(topic, *count);
    if (!spans) return spans.error();
    std::map<partition, committed_offset> begins;
    for (partition i = 0; i < *count; ++i) {
        const auto& span = (*spans)[static_cast<std::size_t>(i)];
        // Partitions that came later hold nothing from before the group.
        if (!there->contains(i)) begins[i] = {there->empty() ? span.high : span.low, {}};
    }
    auto cause = on.commit(group, topic, begins);
    // With members of its own it has begun.
    const auto members = cause ? on.members(group) : result<std::size_t>(std::size_t{0});
    const bool lives = members && *members > 0;
    return lives ? error() : cause;
}

}  // namespace shove::kafka_backend
