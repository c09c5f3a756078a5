#include "plan.hpp"

#include <shove/spi/url_text.hpp>

#include <algorithm>
#include <utility>

#include "layout.hpp"
#include "names.hpp"

namespace shove::kafka_backend {

namespace {

/// As many as the reference makes.
constexpr int usual_partitions = 8;

/// The settings of a queue's topic: its own go before those of all.
kafka::topic_settings settings_of(const std::string& queue, const kafka::config& all) {
    auto made = all.topics;
    const auto own = all.topic.find(queue);
    if (own == all.topic.end()) return made;
    if (own->second.partitions != 0) made.partitions = own->second.partitions;
    if (own->second.replication != 0) made.replication = own->second.replication;
    for (const auto& [key, value] : own->second.entries)
        made.entries.insert_or_assign(key, value);
    return made;
}

int count_or(std::uint32_t wanted, int otherwise) {
    return wanted != 0 ? static_cast<int>(wanted) : otherwise;
}

int partitions_of(const queue_topology& topology, const kafka::config& settings) {
    if (topology.sequencing) return topology.sequencing->shards();
    // Of several partitions a subscriber would get messages in another order than they were published in.
    return count_or(settings_of(topology.queue, settings).partitions, topology.broadcast ? 1 : usual_partitions);
}

error would_reset(const std::string& topic, const std::string& key, const std::string& wanted) {
    return {errc::unsupported, "topic '" + topic + "': to set an entry would reset '" + key +
                                   "', whose value the broker does not tell; set '" + wanted +
                                   "' and the like by the broker's own tools"};
}

}  // namespace

std::vector<planned_topic> plan(const queue_topology& topology, const kafka::config& settings) {
    std::vector<planned_topic> made;
    if (topology.external) return made;
    const names called(settings);
    const auto main = settings_of(topology.queue, settings);
    const int count = partitions_of(topology, settings);
    const int copies = main.replication;
    made.push_back({{called.topic_of(topology.queue), count, copies, main.entries}, topic_use::messages});
    if (!topology.dead_letter_queue.empty()) {
        const auto& dlq = topology.dead_letter_queue;
        const auto own = settings.topic.find(dlq);
        const auto dead = settings_of(dlq, settings);
        made.push_back({{called.topic_of(dlq), count_or(dead.partitions, usual_partitions), dead.replication,
                         own != settings.topic.end() ? own->second.entries : std::map<std::string, std::string>()},
                        topic_use::dead_letters});
    }
    if (topology.sequencing) {
        made.push_back(
            {{called.topic_of(keys_topic(topology.reader_queue)), 1, copies, {{"cleanup.policy", "compact"}}},
             topic_use::poisoned});
        return made;  // its messages wait in their places
    }
    for (const auto& queue : waits_declared(topology))
        made.push_back({{called.topic_of(queue), count, copies, {}}, topic_use::retries});
    return made;
}

result<std::optional<std::map<std::string, std::string>>> merged_entries(
    const std::string& topic, const std::map<std::string, topic_entry>& there,
    const std::map<std::string, std::string>& wanted) {
    using entries = std::map<std::string, std::string>;
    const bool as_wanted = std::ranges::all_of(wanted, [&](const auto& each) {
        const auto found = there.find(each.first);
        return found != there.end() && found->second.value == each.second;
    });
    if (as_wanted) return std::optional<entries>();
    entries all;
    for (const auto& [key, entry] : there) {
        if (!entry.own) continue;
        if (!entry.has_value && !wanted.contains(key)) return would_reset(topic, key, wanted.begin()->first);
        all.emplace(key, entry.value);
    }
    for (const auto& [key, value] : wanted)
        all.insert_or_assign(key, value);
    return std::optional(std::move(all));
}

error check_partitions(const queue_topology& topology, const kafka::config& settings, int there, bool holds_messages) {
    if (!topology.sequencing || there == 0) return {};
    const int wanted = topology.sequencing->shards();
    const auto of = "topic '" + names(settings).topic_of(topology.queue) + "' has " + std::to_string(there) +
                    " partitions, and " + std::to_string(wanted) + " shards are declared; ";
    if (there < wanted && holds_messages && !settings.allow_repartitioning)
        return {
            errc::topology_mismatch,
            of + "more of them would move keys to other shards while their messages wait: drain the topic and remove "
                 "its records, or accept that with allow_repartitioning=true"};
    return {};
}

error check_retention(const queue_topology& topology, const std::string& topic,
                      const std::map<std::string, topic_entry>& there) {
    if (topology.holds.empty()) return {};
    const auto found = there.find("retention.ms");
    const auto kept = found == there.end() ? std::nullopt : spi::whole_number(found->second.value);
    if (!kept) return {};  // -1: for ever
    const auto longest = std::ranges::max(topology.holds, {}, &hold_tier::delay).delay;
    if (static_cast<std::uint64_t>(longest.count()) < *kept) return {};
    return {errc::invalid_topology,
            "queue '" + topology.reader_queue + "': a hold of " + hold_suffix(longest) +
                " is no shorter than the retention of topic '" + topic + "', " + std::to_string(*kept) +
                "ms: waiting messages would be lost; raise its retention.ms or shorten the hold"};
}

}  // namespace shove::kafka_backend
