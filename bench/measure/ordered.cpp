#include "ordered.hpp"

namespace shove::bench {
namespace {

std::uint64_t keys = 1;
std::shared_ptr<const queue_topology> layout;

}  // namespace

std::string key_of(const sample& message) {
    return "k" + std::to_string(message.seq % keys);
}

void shape_ordered_samples(const plan& of) {
    keys = of.keys;
    layout = queue_topology::make(ordered_samples::topology.routing_shards(of.shards)).value();
}

}  // namespace shove::bench

template <>
const std::shared_ptr<const shove::queue_topology>& shove::detail::topology_of<shove::bench::ordered_samples>() {
    return shove::bench::layout;
}
