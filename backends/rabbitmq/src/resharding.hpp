#pragma once

#include <shove/topology.hpp>

#include "control.hpp"

namespace shove::rabbitmq_backend {

/// To be called before a topology is declared. Where it is sequenced, and its reader has another number of shards on
/// the server: takes away those beyond the declared number, or throws `channel_failed` with `errc::topology_mismatch`
/// because there are keys that would lose their order, or messages that would be lost. Nothing is changed then.
void make_way(ask_channel& over, const queue_topology& topology, const rabbitmq::config& settings);

}  // namespace shove::rabbitmq_backend
