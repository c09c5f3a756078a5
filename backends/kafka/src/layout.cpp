#include "layout.hpp"

#include <algorithm>
#include <array>

namespace shove::kafka_backend {

namespace {

using namespace std::chrono_literals;

constexpr std::array<wait_class, 5> classes{{{"1s", 1s}, {"1m", 1min}, {"1h", 1h}, {"1d", 24h}, {"1y", 366 * 24h}}};

std::string joined(std::string_view place, std::string_view what, std::string_view suffix) {
    std::string made(place);
    made += what;
    made += suffix;
    return made;
}

}  // namespace

std::span<const wait_class> wait_classes() noexcept {
    return classes;
}

const wait_class& wait_class_of(std::chrono::milliseconds delay) noexcept {
    const auto* found = std::ranges::find_if(classes, [&](const auto& one) { return delay <= one.most; });
    return found == classes.end() ? classes.back() : *found;
}

std::string retry_topic(std::string_view place, const wait_class& of) {
    return joined(place, "-retry-", of.suffix);
}

std::string later_topic(std::string_view queue, const wait_class& of) {
    return joined(queue, "-later-", of.suffix);
}

std::string keys_topic(std::string_view place) {
    return joined(place, "-keys", {});
}

std::string group_of(const queue_topology& topology, bool dead_letters) {
    if (dead_letters) return topology.dead_letter_queue + "-consumer";
    return topology.reader_queue + (topology.sequencing ? "-fifo" : "-consumer");
}

std::vector<std::string> topics_read(const queue_topology& topology, bool dead_letters) {
    std::vector<std::string> made{dead_letters ? topology.dead_letter_queue : topology.queue};
    if (dead_letters) {
        for (const auto& one : classes)
            made.push_back(retry_topic(topology.dead_letter_queue, one));
        return made;
    }
    if (topology.sequencing) return made;
    for (const auto& one : classes) {
        if (!topology.broadcast) made.push_back(retry_topic(topology.reader_queue, one));
    }
    for (const auto& one : classes)
        made.push_back(later_topic(topology.queue, one));
    return made;
}

std::vector<std::string> waits_declared(const queue_topology& topology) {
    std::vector<std::string> made;
    if (topology.sequencing) return made;
    made.push_back(later_topic(topology.queue, classes.front()));  // found when it is made later, but not at once
    if (topology.broadcast) return made;
    made.push_back(retry_topic(topology.reader_queue, classes.front()));  // retries and defers without holds
    for (const auto& tier : topology.holds)
        made.push_back(retry_topic(topology.reader_queue, wait_class_of(tier.delay)));
    std::ranges::sort(made);
    made.erase(std::unique(made.begin(), made.end()), made.end());
    return made;
}

}  // namespace shove::kafka_backend
