#pragma once

#include <shove/error.hpp>
#include <shove/topology.hpp>

#include <string>

namespace shove::spi {

/// What is wrong about a reader group whose queue exists already, with other shards: it would miss messages.
/// For drivers, where they declare.
/// @param exists  Whether a queue of that name does: `bool(const std::string&)`.
template <class Exists>
error check_reader_fit(const queue_topology& reader, Exists&& exists) {
    if (reader.reader_group.empty()) return {};
    const auto shard = [&](std::uint32_t i) { return reader.queue + "-seq-" + std::to_string(i); };
    const auto refused = [&](const char* is) {
        return error(errc::invalid_topology,
                     "reader group '" + reader.reader_group + "' of queue '" + reader.queue + "': the queue is " + is);
    };
    if (!reader.sequencing)
        return exists(shard(0)) ? refused("sequenced; give the reader sequenced() as well") : error();
    if (exists(reader.queue)) return refused("not sequenced; leave sequenced() out of the reader");
    const std::uint32_t shards = reader.sequencing->shards();
    const bool fewer = exists(shard(0)) && !exists(shard(shards - 1));
    if (!fewer && !exists(shard(shards))) return {};
    return refused("sequenced with another number of shards; give the reader the same routing_shards()");
}

}  // namespace shove::spi
