#include "cluster.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "admin_answer.hpp"

namespace shove::kafka_backend {

namespace {

using owned_metadata = std::unique_ptr<const rd_kafka_metadata_t, destroyed_by<rd_kafka_metadata_destroy>>;
using owned_new_topic = std::unique_ptr<rd_kafka_NewTopic_t, destroyed_by<rd_kafka_NewTopic_destroy>>;
using owned_growth = std::unique_ptr<rd_kafka_NewPartitions_t, destroyed_by<rd_kafka_NewPartitions_destroy>>;
using owned_deletion = std::unique_ptr<rd_kafka_DeleteTopic_t, destroyed_by<rd_kafka_DeleteTopic_destroy>>;
using owned_resource = std::unique_ptr<rd_kafka_ConfigResource_t, destroyed_by<rd_kafka_ConfigResource_destroy>>;

/// The pointers that the library wants.
template <class Owned>
auto raw(const std::vector<Owned>& from) {
    std::vector<typename Owned::pointer> made;
    made.reserve(from.size());
    for (const auto& each : from)
        made.push_back(each.get());
    return made;
}

std::string quoted(const std::string& topic) {
    return "topic '" + topic + "'";
}

error resource_failure(const rd_kafka_ConfigResource_t* it) {
    const char* words = rd_kafka_ConfigResource_error_string(it);
    return error_of(rd_kafka_ConfigResource_error(it), quoted(rd_kafka_ConfigResource_name(it)), words ? words : "");
}

}  // namespace

result<int> cluster::partitions(const std::string& topic) const {
    using owned = std::unique_ptr<rd_kafka_topic_t, destroyed_by<rd_kafka_topic_destroy>>;
    const owned handle(rd_kafka_topic_new(client_, topic.c_str(), nullptr));
    const rd_kafka_metadata_t* told = nullptr;
    const auto code = rd_kafka_metadata(client_, 0, handle.get(), &told, patience_);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(code, quoted(topic));
    const owned_metadata all(told);
    if (all->topic_cnt < 1) return 0;
    const auto& found = all->topics[0];
    if (found.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || found.err == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC) return 0;
    if (found.err != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(found.err, quoted(topic));
    return found.partition_cnt;
}

result<std::map<std::string, int>> cluster::topics() const {
    const rd_kafka_metadata_t* told = nullptr;
    const auto code = rd_kafka_metadata(client_, 1, nullptr, &told, patience_);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(code, "the topics");
    const owned_metadata all(told);
    std::map<std::string, int> made;
    for (int i = 0; i < all->topic_cnt; ++i) {
        const auto& each = all->topics[i];
        if (each.err == RD_KAFKA_RESP_ERR_NO_ERROR) made.emplace(each.topic, each.partition_cnt);
    }
    return made;
}

error cluster::make(const std::vector<new_topic>& wanted) const {
    if (wanted.empty()) return {};
    std::vector<owned_new_topic> topics;
    for (const auto& each : wanted) {
        std::array<char, 256> text{};
        const int copies = each.replication > 0 ? each.replication : -1;
        owned_new_topic made(
            rd_kafka_NewTopic_new(each.name.c_str(), each.partitions, copies, text.data(), text.size()));
        if (!made) return {errc::invalid_argument, quoted(each.name) + ": " + text.data()};
        for (const auto& [key, value] : each.entries)
            rd_kafka_NewTopic_set_config(made.get(), key.c_str(), value.c_str());
        topics.push_back(std::move(made));
    }
    auto list = raw(topics);
    const auto told = answer(RD_KAFKA_ADMIN_OP_CREATETOPICS, quoted(wanted.front().name), [&](auto* how, auto* queue) {
        rd_kafka_CreateTopics(client_, list.data(), list.size(), how, queue);
    });
    if (!told) return told.error();
    std::size_t count = 0;
    const auto* results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(told->get()), &count);
    if (auto cause = first_failure(results, count, RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)) return cause;
    for (const auto& each : wanted) {
        if (auto cause = wait_for(each.name, 1)) return cause;
    }
    return {};
}

error cluster::wait_for(const std::string& topic, int count) const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_);
    for (auto pause = std::chrono::milliseconds(2);; pause *= 2) {
        const auto found = partitions(topic);
        if (!found && !is_retryable(found.error().code)) return found.error();
        if (found && *found >= count) return {};
        if (std::chrono::steady_clock::now() + pause > until)
            return {errc::timed_out, quoted(topic) + " was made, but Kafka's brokers do not show it after " +
                                         std::to_string(patience_) + "ms"};
        std::this_thread::sleep_for(pause);
    }
}

error cluster::grow(const std::string& topic, int total) const {
    std::array<char, 256> text{};
    const owned_growth wanted(
        rd_kafka_NewPartitions_new(topic.c_str(), static_cast<std::size_t>(total), text.data(), text.size()));
    if (!wanted) return {errc::invalid_argument, quoted(topic) + ": " + text.data()};
    auto* one = wanted.get();
    const auto told = answer(RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, quoted(topic),
                             [&](auto* how, auto* queue) { rd_kafka_CreatePartitions(client_, &one, 1, how, queue); });
    if (!told) return told.error();
    std::size_t count = 0;
    const auto* results =
        rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(told->get()), &count);
    if (auto cause = first_failure(results, count)) return cause;
    return wait_for(topic, total);
}

error cluster::remove(const std::vector<std::string>& topics) const {
    if (topics.empty()) return {};
    std::vector<owned_deletion> wanted;
    wanted.reserve(topics.size());
    for (const auto& each : topics)
        wanted.emplace_back(rd_kafka_DeleteTopic_new(each.c_str()));
    auto list = raw(wanted);
    const auto told = answer(RD_KAFKA_ADMIN_OP_DELETETOPICS, quoted(topics.front()), [&](auto* how, auto* queue) {
        rd_kafka_DeleteTopics(client_, list.data(), list.size(), how, queue);
    });
    if (!told) return told.error();
    std::size_t count = 0;
    const auto* results = rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(told->get()), &count);
    return first_failure(results, count, RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
}

result<std::map<std::string, topic_entry>> cluster::entries(const std::string& topic) const {
    const owned_resource wanted(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
    auto* one = wanted.get();
    const auto told = answer(RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, quoted(topic),
                             [&](auto* how, auto* queue) { rd_kafka_DescribeConfigs(client_, &one, 1, how, queue); });
    if (!told) return told.error();
    std::size_t count = 0;
    const auto* resources =
        rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(told->get()), &count);
    std::map<std::string, topic_entry> made;
    for (std::size_t i = 0; i < count; ++i) {
        if (auto cause = resource_failure(resources[i])) return cause;
        std::size_t size = 0;
        const auto* all = rd_kafka_ConfigResource_configs(resources[i], &size);
        for (std::size_t k = 0; k < size; ++k) {
            const char* value = rd_kafka_ConfigEntry_value(all[k]);
            const bool own = rd_kafka_ConfigEntry_source(all[k]) == RD_KAFKA_CONFIG_SOURCE_DYNAMIC_TOPIC_CONFIG;
            made[rd_kafka_ConfigEntry_name(all[k])] = {value ? value : "", value != nullptr, own};
        }
    }
    return made;
}

error cluster::set_entries(const std::string& topic, const std::map<std::string, std::string>& all) const {
    const owned_resource wanted(rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic.c_str()));
    for (const auto& [key, value] : all)
        rd_kafka_ConfigResource_set_config(wanted.get(), key.c_str(), value.c_str());
    auto* one = wanted.get();
    const auto told = answer(RD_KAFKA_ADMIN_OP_ALTERCONFIGS, quoted(topic),
                             [&](auto* how, auto* queue) { rd_kafka_AlterConfigs(client_, &one, 1, how, queue); });
    if (!told) return told.error();
    std::size_t count = 0;
    const auto* resources =
        rd_kafka_AlterConfigs_result_resources(rd_kafka_event_AlterConfigs_result(told->get()), &count);
    for (std::size_t i = 0; i < count; ++i) {
        if (auto cause = resource_failure(resources[i])) return cause;
    }
    return {};
}

}  // namespace shove::kafka_backend
