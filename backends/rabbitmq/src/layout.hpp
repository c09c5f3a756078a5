#pragma once

#include <shove/topology.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control.hpp"

namespace shove::rabbitmq_backend {

/// A queue as it is declared.
struct queue_layout {
    std::string name;
    rabbitmq::queue_type type = rabbitmq::queue_type::classic;
    std::string dead_letter_exchange;              ///< With `dead_letter_key`; see there.
    std::optional<std::string> dead_letter_key;    ///< What expires or is rejected goes there. Nothing: it is dropped.
    std::optional<std::chrono::milliseconds> ttl;  ///< Messages expire after so long: a hold queue.
    std::optional<std::chrono::milliseconds> unused;  ///< The queue itself goes after so long without a declaration.
    bool single_active = false;
};

/// An exchange, or a binding of one.
struct exchange_layout {
    std::string name;
    std::string type;
    std::string alternate{};  ///< Takes what no binding takes.
};
struct binding_layout {
    std::string from;  ///< An exchange.
    std::string to;
    std::string key;
    bool to_exchange = false;
};

/// The bindings of a shard: in the hash all have the same weight.
std::vector<binding_layout> shard_bindings(const std::string& queue, const std::string& shard, std::size_t number,
                                           rabbitmq::queue_type type);

/// All that a topology needs on a server. Pure.
struct layout {
    std::vector<queue_layout> queues;  ///< In the order of declaration.
    std::vector<exchange_layout> exchanges;
    std::vector<binding_layout> bindings;
};

/// The names that are derived from a queue's.
std::string readers_exchange(const std::string& queue);  ///< `{queue}-readers`
std::string hash_exchange(const std::string& queue);     ///< `{queue}-seq-hash`
std::string shards_exchange(const std::string& queue);   ///< `{queue}-seq-shards`
std::string fanout_exchange(const std::string& queue);   ///< `{queue}-fanout`

/// Where the messages of a topology are published to: an exchange; an external queue's to the default one, by its name.
std::string publish_exchange(const queue_topology& topology);

/// Whether publishers say which shard a message goes to, by its number as the routing key. The consistent hash must not
/// decide that: RabbitMQ puts its ring together anew at each start, in any order, and keys would change their shards.
/// With classic queues it does all the same: the Rust library knows nothing else.
bool publishers_choose_shards(rabbitmq::queue_type type) noexcept;

/// Whether it is that of a reader group.
bool reads_from_another(const queue_topology& topology) noexcept;
/// What a topology needs. Quorum queues are not told where rejected messages go: nothing of ours is rejected; classic
/// ones are, because the Rust library declares them so.
layout layout_of(const queue_topology& topology, rabbitmq::queue_type type);

/// The queue where messages wait for a time that no hold tier has: `{queue}-delay-{D}`. From there they go to `queue`.
/// @param delay  As `rounded_delay` gives it.
queue_layout delay_queue(const std::string& queue, std::chrono::milliseconds delay, rabbitmq::queue_type type);
/// As `delay_queue`, for what was published with a delay: `{queue}-later-{D}`. From there it goes where the topic's
/// messages go.
queue_layout later_queue(const queue_topology& topology, std::chrono::milliseconds delay, rabbitmq::queue_type type);
/// Whether messages wait there for a reader's place: its delay queues, and the later queues of what it reads from.
bool is_waiting_for(std::string_view name, std::string_view place, std::string_view queue) noexcept;
/// A delay as there are queues for: not shorter, and longer by less than a tenth. Two significant digits.
std::chrono::milliseconds rounded_delay(std::chrono::milliseconds delay) noexcept;
/// For so long at least a delay queue stays after it was declared, beside its delay.
inline constexpr std::chrono::minutes delay_queue_life{10};

/// Declares all of it. Throws as `connection` does; a mismatch names the queue, the argument and the remedy.
void declare(ask_channel& over, const layout& what);
void declare(ask_channel& over, const queue_layout& what);

void declare(ask_channel& over, const binding_layout& what);
/// Takes a binding of a queue away, if it is there.
void unbind(ask_channel& over, const binding_layout& what);
/// Deletes a queue, if it is there, with all that is in it.
void remove(ask_channel& over, const std::string& queue);

/// What a server says of a queue at once, where its statistics lag.
struct queue_count {
    std::uint32_t ready = 0;
    std::uint32_t consumers = 0;
};
/// By a passive declaration; nothing: there is no such queue.
std::optional<queue_count> count(ask_channel& over, const std::string& queue);
/// Messages ready in a queue; nothing: there is no such queue.
std::optional<std::uint32_t> count_ready(ask_channel& over, const std::string& queue);
/// Whether there is such an exchange.
bool has_exchange(ask_channel& over, const std::string& exchange);

}  // namespace shove::rabbitmq_backend
