#pragma once

#include "management.hpp"

#include <shove/error.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

/// What the management API answers, read into our types. Each function takes the body of an answer and fails with
/// `errc::decode_failed` and the path of the fault; the text of the answer is not in the error. Unknown members are
/// skipped. Counters that are null, absent or negative count as 0: the broker notes them late.
namespace shove::rabbitmq_backend {

/// One page of the list of queues.
struct queue_page {
    std::vector<queue_stats> queues;
    std::uint64_t pages = 0;  ///< There are so many at the moment.
};

/// Of `GET /api/queues/{vhost}/{name}`.
result<queue_stats> read_queue(std::string_view body);
/// Of `GET /api/queues/{vhost}?page=…`.
result<queue_page> read_queue_page(std::string_view body);
/// Of `GET /api/exchanges/{vhost}/{name}/bindings/source`.
result<std::vector<binding_info>> read_bindings(std::string_view body);
/// Of `GET /api/overview`.
result<broker_facts> read_facts(std::string_view body);

/// The members of a queue that are read, as a list for `?columns=`; without it the broker sends 50 times as much.
inline constexpr std::string_view queue_columns =
    "name,messages_ready,messages_unacknowledged,consumers,type,durable,arguments,head_message_timestamp,state";
/// The same of a binding.
inline constexpr std::string_view binding_columns = "destination,destination_type,routing_key,arguments";
/// The same of the overview.
inline constexpr std::string_view facts_columns = "rabbitmq_version,erlang_version,cluster_name,node,disable_stats";

}  // namespace shove::rabbitmq_backend
