#pragma once

#include <shove/kafka.hpp>
#include <shove/topology.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace shove::kafka_backend {

/// What queues and groups are called on the broker: the names of layout.hpp, behind a prefix. Everything that this
/// library makes or reads there begins with `config::prefix`.
class names {
public:
    explicit names(const kafka::config& settings) : prefix_(settings.prefix), group_id_(settings.group_id) {}

    /// The topic of a queue: for a sequenced topic pass `queue_topology::queue`, not a shard's.
    std::string topic_of(std::string_view queue) const { return prefix_ + std::string(queue); }
    /// The queue of a topic; nothing: it does not begin with the prefix.
    std::optional<std::string> queue_of(std::string_view topic) const;

    /// The group that reads a topology's messages: `{q}-consumer`, `{q}-{g}-consumer`, or, sequenced, `{q}-fifo`,
    /// `{q}-{g}-fifo`. `config::group_id` stands in for `{q}-consumer`, and with `-fifo` for `{q}-fifo`.
    std::string group_of(const queue_topology& topology) const;
    /// The group that reads dead letters: `{dlq}-consumer`, or `config::group_id` with `-dlq`.
    std::string dead_group_of(const queue_topology& topology) const;

private:
    std::string prefix_;
    std::string group_id_;
};

/// What is wrong with a name as a topic of Kafka's: at most 249 of letters, digits, `.`, `_` and `-`.
error check_topic_name(std::string_view topic);

}  // namespace shove::kafka_backend
