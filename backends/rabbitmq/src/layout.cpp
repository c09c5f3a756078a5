#include "layout.hpp"

#include <algorithm>
#include <iterator>

#include "crash_notes.hpp"
#include "shard_record.hpp"

namespace shove::rabbitmq_backend {

std::string readers_exchange(const std::string& queue) {
    return queue + "-readers";
}
std::string hash_exchange(const std::string& queue) {
    return queue + "-seq-hash";
}
std::string shards_exchange(const std::string& queue) {
    return queue + "-seq-shards";
}
std::string fanout_exchange(const std::string& queue) {
    return queue + "-fanout";
}

std::vector<binding_layout> shard_bindings(const std::string& queue, const std::string& shard, std::size_t number,
                                           rabbitmq::queue_type type) {
    std::vector<binding_layout> made{{hash_exchange(queue), shard, "1", false}};
    if (publishers_choose_shards(type)) made.push_back({shards_exchange(queue), shard, std::to_string(number), false});
    return made;
}

std::string publish_exchange(const queue_topology& topology) {
    if (topology.external) return {};
    return topology.broadcast ? fanout_exchange(topology.queue) : readers_exchange(topology.queue);
}

namespace {

queue_layout queue_of(std::string name, rabbitmq::queue_type type) {
    queue_layout made;
    made.name = std::move(name);
    made.type = type;
    return made;
}

/// The part of a topology that one reader has: the queue's own, or a reader group.
void add_shards(layout& made, const queue_topology& topology, rabbitmq::queue_type type,
                const std::optional<std::string>& dead) {
    const auto hash = hash_exchange(topology.reader_queue);
    const auto numbered = shards_exchange(topology.reader_queue);
    const bool chosen = publishers_choose_shards(type);
    made.exchanges.push_back({hash, "x-consistent-hash"});
    if (chosen) made.exchanges.push_back({numbered, "direct", hash});
    std::size_t number = 0;
    for (const auto& shard : topology.sequencing->reader_queues) {
        auto queue = queue_of(shard, type);
        queue.dead_letter_key = dead;
        queue.single_active = true;
        made.queues.push_back(std::move(queue));
        auto state = queue_of(state_queue(shard), type);
        state.single_active = true;
        made.queues.push_back(std::move(state));
        made.queues.push_back(queue_of(poison_queue(shard), type));
        std::ranges::copy(shard_bindings(topology.reader_queue, shard, number++, type),
                          std::back_inserter(made.bindings));
    }
    // Last: what is published before would go to some of the shards only.
    made.bindings.push_back({readers_exchange(topology.queue), chosen ? numbered : hash, "", true});
}

void add_queue(layout& made, const queue_topology& topology, rabbitmq::queue_type type,
               const std::optional<std::string>& dead) {
    auto main = queue_of(topology.reader_queue, type);
    main.dead_letter_key = dead;
    if (!topology.external) made.queues.push_back(std::move(main));
    if (reads_from_another(topology) && type == rabbitmq::queue_type::quorum) {
        made.queues.push_back(queue_of(topology.queue, type));
        made.bindings.push_back({readers_exchange(topology.queue), topology.queue, topology.queue, false});
    }
    // Classic: it is looked through, and a quorum queue would give the notes back in another order.
    auto notes = queue_of(notes_queue(topology.reader_queue), rabbitmq::queue_type::classic);
    notes.ttl = note_life;
    made.queues.push_back(std::move(notes));
    for (const auto& tier : topology.holds) {
        auto hold = queue_of(tier.queue, type);
        hold.dead_letter_key = topology.reader_queue;
        hold.ttl = tier.delay;
        made.queues.push_back(std::move(hold));
    }
    if (!topology.external) {
        made.bindings.push_back(
            {readers_exchange(topology.queue), topology.reader_queue, topology.reader_queue, false});
    }
}

}  // namespace

bool publishers_choose_shards(rabbitmq::queue_type type) noexcept {
    return type == rabbitmq::queue_type::quorum;
}

bool reads_from_another(const queue_topology& topology) noexcept {
    return topology.reader_queue != topology.queue;
}

layout layout_of(const queue_topology& topology, rabbitmq::queue_type type) {
    layout made;
    if (!topology.external) made.exchanges.push_back({publish_exchange(topology), "fanout"});
    if (topology.broadcast) return made;
    std::optional<std::string> dead;
    if (type == rabbitmq::queue_type::classic && !topology.dead_letter_queue.empty()) dead = topology.dead_letter_queue;
    if (topology.sequencing) {
        add_shards(made, topology, type, dead);
    } else {
        add_queue(made, topology, type, dead);
    }
    // Last: where the server refuses one of the others, because it is there with other settings, nothing new is left.
    if (!topology.dead_letter_queue.empty()) made.queues.push_back(queue_of(topology.dead_letter_queue, type));
    return made;
}

queue_layout delay_queue(const std::string& queue, std::chrono::milliseconds delay, rabbitmq::queue_type type) {
    auto made = queue_of(queue + "-delay-" + hold_suffix(delay), type);
    made.dead_letter_key = queue;
    made.ttl = delay;
    made.unused = delay + delay_queue_life;
    return made;
}

queue_layout later_queue(const queue_topology& topology, std::chrono::milliseconds delay, rabbitmq::queue_type type) {
    auto made = queue_of(topology.queue + "-later-" + hold_suffix(delay), type);
    made.dead_letter_exchange = publish_exchange(topology);
    made.dead_letter_key = topology.queue;
    made.ttl = delay;
    made.unused = delay + delay_queue_life;
    return made;
}

bool is_waiting_for(std::string_view name, std::string_view place, std::string_view queue) noexcept {
    const auto follows = [&](std::string_view stem, std::string_view infix) {
        return name.starts_with(stem) && name.substr(stem.size()).starts_with(infix);
    };
    return follows(place, "-delay-") || follows(queue, "-later-");
}

std::chrono::milliseconds rounded_delay(std::chrono::milliseconds delay) noexcept {
    auto left = std::max<std::int64_t>(delay.count(), 1);
    std::int64_t unit = 1;
    while (left > 99) {
        left = (left + 9) / 10;
        unit *= 10;
    }
    return std::chrono::milliseconds(left * unit);
}

}  // namespace shove::rabbitmq_backend
