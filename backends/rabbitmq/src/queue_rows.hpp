#pragma once

#include <shove/topology.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "management.hpp"

namespace shove::rabbitmq_backend {

/// A queue that people should see, and those that belong to it.
struct queue_row {
    const queue_stats* noted = nullptr;
    std::vector<const queue_stats*> waiting;  ///< In these, messages wait for it.
    std::string dead_letter_queue;            ///< Empty: none.
};

/// Whether messages wait in a queue until their time is over, and then go to a reader's place, which reads what is
/// published to `queue`.
bool waits_for(const queue_stats& what, std::string_view place, std::string_view queue);
/// Whether only one consumer at a time gets messages: a shard.
bool is_single_active(const queue_stats& what);

/// Whether the server has made its name up, for the one connection that may ask about it: a subscription to a
/// broadcast.
bool is_subscription(const queue_stats& what);
/// The shards that have a name like this one's but for its number, and itself.
std::vector<std::string> shards_like(const std::vector<queue_stats>& all, const std::string& shard);

/// Of all queues of a virtual host, sorted by name, those that people should see: not those that this library makes
/// beside others (hold and delay queues, the state of shards). Pure.
/// @param declared  The topology that was declared in this process and has that queue; null: none.
std::vector<queue_row> rows_of(
    const std::vector<queue_stats>& all,
    const std::function<std::shared_ptr<const queue_topology>(const std::string&)>& declared);

}  // namespace shove::rabbitmq_backend
