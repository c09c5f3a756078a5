#pragma once

#include <shove/topology.hpp>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Which topics and groups a topology has at the broker. Names of main and dead-letter topics and of groups are the
/// Rust library's; it does not know the topics where messages wait.
namespace shove::kafka_backend {

/// Messages that wait are kept in topics by how long they wait, so that a long wait has no short one behind it. Each
/// message says itself when it is due.
struct wait_class {
    std::string_view suffix;
    std::chrono::milliseconds most;
};
std::span<const wait_class> wait_classes() noexcept;
/// The first class whose longest wait is at least so long; else the last.
const wait_class& wait_class_of(std::chrono::milliseconds delay) noexcept;

/// `{place}-retry-{class}`: where the place's messages wait for their next call.
std::string retry_topic(std::string_view place, const wait_class& of);
/// `{queue}-later-{class}`: where messages wait that are published with a delay, for all reader groups.
std::string later_topic(std::string_view queue, const wait_class& of);
/// `{place}-keys`: the poisoned keys of a sequenced topic; compacted.
std::string keys_topic(std::string_view place);

/// The consumer group that reads a topology, or its dead letters.
std::string group_of(const queue_topology& topology, bool dead_letters);

/// The topics that its consumers read: the main one first, then those where messages wait, which may not be there.
std::vector<std::string> topics_read(const queue_topology& topology, bool dead_letters);
/// Those where messages wait that are made with the topology; others are made when they are needed first.
std::vector<std::string> waits_declared(const queue_topology& topology);

}  // namespace shove::kafka_backend
