#pragma once

#include "plan.hpp"
#include "sample.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace shove::bench {

/// The key of a message of a sequenced run: one of `plan::keys`, in turn.
std::string key_of(const sample& message);

/// The topic of a run without order. What it is called is known at run time only, and of the next topic the number of
/// shards too; otherwise both are topics like every other, and cost what every other costs.
struct samples : topic<sample> {
    static constexpr auto topology = shove::topology("shove-bench").hold(std::chrono::seconds(1)).dlq();
};

/// The topic of a sequenced run.
struct ordered_samples : topic<sample> {
    static constexpr auto topology = samples::topology.sequenced(sequence_failure::skip);
    static constexpr auto sequence_key = &key_of;
};

/// Gives both topics the queue's name, and the second one the plan's shards and keys, for this process. Before anything
/// is declared.
void shape_topics(const plan& of, const std::string& queue);

/// Where on a board the messages of each key begin: shard after shard, as the consumers go.
std::vector<std::uint64_t> places_of_keys(const plan& of);

/// Calls `work` with an object of the topic type that the plan works on.
template <class F>
void with_topic(const plan& of, F work) {
    if (of.mode == mode::sequenced) {
        work(ordered_samples());
    } else {
        work(samples());
    }
}

}  // namespace shove::bench

namespace shove::detail {

template <>
const std::shared_ptr<const queue_topology>& topology_of<bench::samples>();
template <>
const std::shared_ptr<const queue_topology>& topology_of<bench::ordered_samples>();

}  // namespace shove::detail
