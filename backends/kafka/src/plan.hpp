#pragma once

#include <shove/kafka.hpp>
#include <shove/topology.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster.hpp"

namespace shove::kafka_backend {

/// What is a topic for.
enum class topic_use : std::uint8_t {
    messages,
    dead_letters,
    retries,  ///< Messages wait there for their next call.
    poisoned,
};

/// One topic that a topology needs.
struct planned_topic {
    new_topic make;
    topic_use use = topic_use::messages;
};

/// The topics that a topology needs, its own first. Not of an external one: there they are somebody else's.
std::vector<planned_topic> plan(const queue_topology& topology, const kafka::config& settings);

/// What must be set on a topic for it to have the wanted entries: nothing, if it has them. The request replaces all
/// entries of the topic, so those that are set there and not wanted are set again.
/// @par Errors  `errc::unsupported` where one of those is sensitive: the broker does not tell its value, so that it
/// would
///              be reset.
result<std::optional<std::map<std::string, std::string>>> merged_entries(
    const std::string& topic, const std::map<std::string, topic_entry>& there,
    const std::map<std::string, std::string>& wanted);

/// What is wrong about the partitions that a topic has, or will have after it was grown.
/// @param there   What it has now.
/// @param holds_messages  Asked for only where it matters.
error check_partitions(const queue_topology& topology, const kafka::config& settings, int there, bool holds_messages);

/// What is wrong where a topic's records go before a wait in it is over.
error check_retention(const queue_topology& topology, const std::string& topic,
                      const std::map<std::string, topic_entry>& there);

}  // namespace shove::kafka_backend
