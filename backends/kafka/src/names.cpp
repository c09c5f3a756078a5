#include "names.hpp"

#include <algorithm>

namespace shove::kafka_backend {

std::optional<std::string> names::queue_of(std::string_view topic) const {
    if (!topic.starts_with(prefix_) || topic.size() == prefix_.size()) return std::nullopt;
    return std::string(topic.substr(prefix_.size()));
}

std::string names::group_of(const queue_topology& topology) const {
    const std::string kind = topology.sequencing ? "-fifo" : "-consumer";
    if (group_id_.empty()) return prefix_ + topology.reader_queue + kind;
    return prefix_ + group_id_ + (topology.sequencing ? kind : "");
}

std::string names::dead_group_of(const queue_topology& topology) const {
    return prefix_ + (group_id_.empty() ? topology.dead_letter_queue + "-consumer" : group_id_ + "-dlq");
}

std::string names::retry_topic(const queue_topology& topology, std::chrono::milliseconds delay) const {
    return prefix_ + topology.reader_queue + "-retry-" + hold_suffix(delay);
}

std::string names::poison_topic(const queue_topology& topology) const {
    return prefix_ + topology.reader_queue + "-poisoned";
}

error check_topic_name(std::string_view topic) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
               c == '-';
    };
    if (!topic.empty() && topic.size() <= 249 && topic != "." && topic != ".." && std::ranges::all_of(topic, allowed))
        return {};
    return {errc::invalid_topology, "'" + std::string(topic) +
                                        "' cannot be a topic of Kafka's; use at most 249 letters, digits, '.', '_' "
                                        "and '-'"};
}

}  // namespace shove::kafka_backend
