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

/// The topic of a sequenced run. The number of its shards is the plan's, and so known at run time only; otherwise
/// it is a topic like every other, and costs what every other costs.
struct ordered_samples : topic<sample> {
    static constexpr auto topology =
        shove::topology("shove-bench").hold(std::chrono::seconds(1)).dlq().sequenced(sequence_failure::skip);
    static constexpr auto sequence_key = &key_of;
};

/// Gives `ordered_samples` the plan's shards and keys, for this process. Before anything is declared.
void shape_ordered_samples(const plan& of);

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
const std::shared_ptr<const queue_topology>& topology_of<bench::ordered_samples>();

}  // namespace shove::detail
