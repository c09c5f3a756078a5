#include "topology_settings.hpp"

#include <algorithm>

#include "duration.hpp"
#include "failure.hpp"

namespace shove::cli {
namespace {

/// `hold 1s,5s; dead letters in 'orders-dlq'`
std::string described(const queue_topology& layout) {
    std::string text = layout.holds.empty() ? "no hold" : "hold ";
    for (const auto& each : layout.holds) {
        if (&each != &layout.holds.front()) text += ',';
        text += format_duration(each.delay);
    }
    if (layout.sequencing) text = std::to_string(layout.sequencing->shards()) + " shards, " + text;
    if (layout.dead_letter_queue.empty()) return text + ", no dead letters";
    return text + ", dead letters in '" + layout.dead_letter_queue + "'";
}

std::string names_of(const std::vector<topic_settings>& topics) {
    std::string text;
    for (const auto& each : topics)
        text += (text.empty() ? "" : ", ") + each.queue;
    return text;
}

}  // namespace

result<runtime_topic> topic_settings::make() const {
    shove::topology spec(queue);
    for (const auto delay : holds)
        spec = spec.hold(delay);
    if (dlq) spec = dlq_name.empty() ? spec.dlq() : spec.dlq_named(dlq_name);
    if (sequenced) spec = spec.sequenced(*sequenced);
    if (shards) spec = spec.routing_shards(*shards);
    if (allow_message_loss) spec = spec.allow_message_loss();
    return runtime_topic::make(spec);
}

bool topology_flags::given() const noexcept {
    return !file.empty() || !layout.holds.empty() || layout.dlq || layout.allow_message_loss || layout.sequenced ||
           layout.shards;
}

topic_settings settings_for(const std::string& queue, const topology_flags& flags) {
    if (flags.file.empty()) {
        auto settings = flags.layout;
        settings.queue = queue;
        return settings;
    }
    const auto topics = read_topology_file(flags.file);
    const auto found = std::ranges::find(topics, queue, &topic_settings::queue);
    if (found == topics.end()) {
        throw usage_failure(flags.file + ": has no topic with queue '" + queue + "'; it has: " + names_of(topics));
    }
    auto settings = *found;
    if (flags.layout.max_retries) settings.max_retries = flags.layout.max_retries;
    return settings;
}

runtime_topic make_topic(const topic_settings& settings) {
    auto made = settings.make();
    if (!made) throw usage_failure(made.error().message());
    return std::move(made).value();
}

std::optional<spi::queue_info> find_queue(const any_broker& broker, const std::string& queue) {
    if (!broker.capabilities().admin) return std::nullopt;
    auto known = broker.admin().queues();
    const auto found = std::ranges::find(known, queue, &spi::queue_info::name);
    return found == known.end() ? std::nullopt : std::optional(std::move(*found));
}

bool is_shard_of(const std::string& name, const std::string& queue) {
    const auto prefix = queue + "-seq-";
    return name.starts_with(prefix) && name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
}

void check_shards(const any_broker& broker, const queue_topology& layout) {
    if (!broker.capabilities().admin) return;
    const auto& queue = layout.queue;
    const auto known = broker.admin().queues();
    const auto there = std::ranges::count_if(known, [&](const auto& each) { return is_shard_of(each.name, queue); });
    const bool plain = std::ranges::find(known, queue, &spi::queue_info::name) != known.end();
    const auto count = std::to_string(there);
    if (!layout.sequencing) {
        if (there == 0 || plain) return;
        throw usage_failure("'" + queue +
                            "' is a sequenced topic; give its layout, for example --sequenced skip --shards " + count +
                            " --hold 1s --dlq, or --topology FILE");
    }
    const auto wanted = layout.sequencing->shards();
    if (there == 0 && plain) {
        throw usage_failure("queue '" + queue +
                            "' is there and is not sequenced; leave out --sequenced, or choose another queue");
    }
    if (there > 0 && there != wanted) {
        throw usage_failure("'" + queue + "' has " + count + " shards, not " + std::to_string(wanted) +
                            ", and all that use it must agree; give --shards " + count +
                            ", or change it first: `shove topology apply`");
    }
}

declared_topic declare_topic(const any_broker& broker, console& to, const std::string& queue,
                             const topology_flags& flags) {
    auto settings = settings_for(queue, flags);
    check_shards(broker, *make_topic(settings).topology);
    // A sequenced topic lies in its shards.
    const auto known = find_queue(broker, settings.sequenced ? queue + "-seq-0" : queue);
    if (known && !flags.given() && !known->dead_letter_queue.empty()) {
        settings.dlq = true;
        settings.dlq_name = known->dead_letter_queue;
    }
    auto topic = make_topic(settings);
    broker.declare(topic);
    if (!known && broker.capabilities().admin) to.note("made queue '" + queue + "': " + described(*topic.topology));
    return {std::move(topic), std::move(settings)};
}

std::string dead_queue_of(const any_broker& broker, const std::string& queue, const topology_flags& flags) {
    std::string name;
    if (flags.given()) name = make_topic(settings_for(queue, flags)).topology->dead_letter_queue;
    const auto known = find_queue(broker, queue);
    if (name.empty() && known) name = known->dead_letter_queue;
    if (name.empty()) name = queue + "-dlq";
    if (!broker.capabilities().admin || find_queue(broker, name)) return name;
    throw failure("unknown_queue", (known ? "queue '" + queue + "' has no dead-letter queue '" + name + "'"
                                          : "there is neither a queue '" + queue + "' nor '" + name + "'") +
                                       "; `shove queues` lists what there is");
}

}  // namespace shove::cli
