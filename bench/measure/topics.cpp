#include "topics.hpp"

namespace shove::bench {
namespace {

std::uint64_t keys = 1;
std::shared_ptr<const queue_topology> layout;
std::shared_ptr<const queue_topology> ordered_layout;

std::string key_text(std::uint64_t key) {
    return "k" + std::to_string(key);
}

}  // namespace

std::string key_of(const sample& message) {
    return key_text(message.seq % keys);
}

void shape_topics(const plan& of, const std::string& queue) {
    keys = of.keys;
    const auto plain = topology(queue).hold(std::chrono::seconds(1)).dlq();
    layout = queue_topology::make(plain).value();
    ordered_layout = queue_topology::make(plain.sequenced(sequence_failure::skip).routing_shards(of.shards)).value();
}

std::vector<std::uint64_t> places_of_keys(const plan& of) {
    std::vector<std::vector<std::uint64_t>> keys_of_shard(of.shards);
    for (std::uint64_t key = 0; key < of.keys; ++key)
        keys_of_shard[ordered_layout->sequencing->shard_of(key_text(key))].push_back(key);
    std::vector<std::uint64_t> places(of.keys);
    std::uint64_t next = 0;
    for (const auto& shard : keys_of_shard) {
        for (const auto key : shard) {
            places[key] = next;
            next += of.messages / of.keys + (key < of.messages % of.keys ? 1 : 0);
        }
    }
    return places;
}

}  // namespace shove::bench

template <>
const std::shared_ptr<const shove::queue_topology>& shove::detail::topology_of<shove::bench::samples>() {
    return shove::bench::layout;
}
template <>
const std::shared_ptr<const shove::queue_topology>& shove::detail::topology_of<shove::bench::ordered_samples>() {
    return shove::bench::ordered_layout;
}
