#include "names.hpp"

#include <algorithm>

#include "layout.hpp"

namespace shove::kafka_backend {

std::optional<std::string> names::queue_of(std::string_view topic) const {
    if (!topic.starts_with(prefix_) || topic.size() == prefix_.size()) return std::nullopt;
    return std::string(topic.substr(prefix_.size()));
}

std::string names::group_of(const queue_topology& topology) const {
    if (group_id_.empty()) return prefix_ + kafka_backend::group_of(topology, false);
    return prefix_ + group_id_ + (topology.sequencing ? "-fifo" : "");
}

std::string names::dead_group_of(const queue_topology& topology) const {
    return prefix_ + (group_id_.empty() ? kafka_backend::group_of(topology, true) : group_id_ + "-dlq");
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
