#pragma once

#include <shove/spi/delivery.hpp>

#include <amqp.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "outlet.hpp"

namespace shove::rabbitmq_backend {

/// What the owner of a shard writes down in the shard's state queue, `{shard}-state`, so that the next one knows it.
struct shard_record {
    enum class kind : std::uint8_t {
        mark,      ///< Everything before it was written before the new owner read it. `owner` made it.
        owner,     ///< `owner` has the shard, and its `fence`.
        orderly,   ///< That owner has left in order: no call of its was cut off.
        wait,      ///< The message `id` has a history, and is not to be called before `not_before`.
        poisoned,  ///< The key `key` is.
        released,  ///< The key `key` is no longer, by an operator.
    };
    kind what = kind::mark;
    std::uint64_t fence = 0;  ///< Of who wrote it; 0: an operator.
    std::string owner;
    std::string id;
    std::string key;
    std::unique_ptr<spi::history> past;
    wall_time not_before{};
    bool alone = false;  ///< It runs with nothing beside it: if its process dies, that is its own doing.
    wall_time since{};
};

/// The record as a message to the state queue. The history must live until it is published.
parcel written(const shard_record& what, std::shared_ptr<const route> to);

/// Reads a record; nothing: it is not one.
std::optional<shard_record> read_record(const amqp_basic_properties_t& properties, std::span<const std::byte> body);

/// The names of a shard's queues beside it.
std::string state_queue(const std::string& shard);   ///< `{shard}-state`
std::string poison_queue(const std::string& shard);  ///< `{shard}-poisoned`: the poisoned keys, for operators to see.

/// What stands for a message in records: its id; without one, a hash of its body.
std::string record_id(const message& msg);

}  // namespace shove::rabbitmq_backend
