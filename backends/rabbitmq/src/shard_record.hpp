#pragma once

#include <shove/spi/delivery.hpp>

#include <amqp.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "outlet.hpp"

namespace shove::rabbitmq_backend {

/// What the owner of a shard writes down in the shard's state queue, `{shard}-state`, so that the next one knows it.
struct shard_record {
    enum class kind : std::uint8_t {
        mark,      ///< Everything before it was written before the new owner read it. `owner` made it.
        owner,     ///< `owner` has the shard, and its `fence`.
        orderly,   ///< That owner has left in order: no call of its was cut off.
        wait,      ///< The message `id` has a history, and is not to be called before `not_before`.
        suspect,   ///< Of plain queues only, as the next two: `id` has crashes, and no process has died over it since.
        taken,     ///< That they were `released` does not count any more. They are listed in the body.
        missed,    ///< Somebody had them again and found nothing written of them. They are listed in the body.
        poisoned,  ///< The key `key` is.
        /// The key `key` is no longer, by an operator. Of plain queues: what is listed went back, and nobody died over
        /// it.
        released,
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
/// @param texts  Its body, as `listed` makes it.
parcel written(const shard_record& what, std::shared_ptr<const route> to, const std::vector<std::string>& texts = {});

/// Reads a record; nothing: it is not one.
std::optional<shard_record> read_record(const amqp_basic_properties_t& properties, std::span<const std::byte> body);

/// Texts in a record's body. What is longer than that is cut, so that its length fits one byte.
inline constexpr std::size_t longest_listed = 255;
std::string listed(const std::vector<std::string>& texts);
std::vector<std::string> listed_in(std::span<const std::byte> body);

/// Most who lost their messages, and live, have said so by then.
inline constexpr std::chrono::seconds grace{1};
/// After a cut that the reader felt, too: others may be on their way back for longer.
inline constexpr std::chrono::seconds grace_after_cut{5};

/// The names of a shard's queues beside it.
std::string state_queue(const std::string& shard);   ///< `{shard}-state`
std::string poison_queue(const std::string& shard);  ///< `{shard}-poisoned`: the poisoned keys, for operators to see.

/// What stands for a message in records: its id; without one, a hash of its body.
std::string record_id(const message& msg);

}  // namespace shove::rabbitmq_backend
