#include <shove/topology.hpp>

namespace shove {

std::string_view describe(topology_rule rule) noexcept {
    switch (rule) {
        case topology_rule::none:
            return "no rule is broken";
        case topology_rule::name_empty:
            return "a queue name is empty; give it one";
        case topology_rule::name_too_long:
            return "a queue name is over 200 bytes; shorten it";
        case topology_rule::name_characters:
            return "a queue name has a space, a control character or a non-ASCII character; use printable ASCII";
        case topology_rule::hold_not_positive:
            return "a hold delay is under one millisecond; make it longer";
        case topology_rule::too_many_holds:
            return "there are more than 16 hold tiers; use fewer";
        case topology_rule::dlq_is_queue:
            return "the dead-letter queue has the queue's own name; give dlq_named() another name";
        case topology_rule::reader_group_blank:
            return "for_consumer_group() got a blank name; give it one";
        case topology_rule::reader_group_taken:
            return "for_consumer_group() got the name of another queue of the topic (dlq, hold-..., seq-...); give "
                   "it another";
        case topology_rule::broadcast_extras:
            return "broadcast() excludes dlq, hold, sequenced and for_consumer_group; remove them";
        case topology_rule::external_sequenced:
            return "external() excludes sequenced(); remove one of them";
        case topology_rule::sequenced_needs_dlq:
            return "sequenced() needs dlq() and at least one hold(); add them or allow_message_loss()";
        case topology_rule::shards_zero:
            return "routing_shards() must be at least 1";
        case topology_rule::shards_unsequenced:
            return "routing_shards() needs sequenced(); add it";
    }
    return "unknown rule";
}

std::string hold_suffix(std::chrono::milliseconds delay) {
    const auto count = delay.count();
    return count % 1000 == 0 ? std::to_string(count / 1000) + "s" : std::to_string(count) + "ms";
}

result<std::shared_ptr<const queue_topology>> queue_topology::make(const topology& spec) {
    if (auto rule = spec.violated(); rule != topology_rule::none) {
        return error(errc::invalid_topology,
                     "topology of queue '" + std::string(spec.queue()) + "': " + std::string(describe(rule)));
    }
    auto made = std::make_shared<queue_topology>();
    made->queue = spec.queue();
    made->reader_group = spec.reader_group();
    made->reader_queue = made->reader_group.empty() ? made->queue : made->queue + "-" + made->reader_group;
    const auto& prefix = made->reader_queue;
    for (std::size_t i = 0; i < spec.hold_count(); ++i) {
        made->holds.push_back({prefix + "-hold-" + hold_suffix(spec.hold_delay(i)), spec.hold_delay(i)});
    }
    if (spec.has_dlq()) {
        made->dead_letter_queue = spec.dlq_name().empty() ? prefix + "-dlq" : std::string(spec.dlq_name());
    }
    made->allow_message_loss = spec.loss_allowed();
    if (spec.is_sequenced()) {
        auto& sequencing = made->sequencing.emplace();
        sequencing.on_failure = spec.on_failure();
        for (unsigned i = 0; i < spec.shards(); ++i) {
            const auto suffix = "-seq-" + std::to_string(i);
            sequencing.shard_queues.push_back(made->queue + suffix);
            sequencing.reader_queues.push_back(made->reader_queue + suffix);
        }
    }
    made->broadcast = spec.is_broadcast();
    made->external = spec.is_external();
    return std::shared_ptr<const queue_topology>(std::move(made));
}

std::uint16_t sequencing::shard_of(std::string_view key) const noexcept {
    // FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv: the reference's hash, so that both agree on shards.
    std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
    for (const char c : key) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100'0000'01b3;
    }
    return static_cast<std::uint16_t>(hash % shard_queues.size());
}

}  // namespace shove
