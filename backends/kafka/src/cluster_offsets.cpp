#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

#include "admin_answer.hpp"
#include "cluster.hpp"

namespace shove::kafka_backend {

namespace {

using owned_deletion = std::unique_ptr<rd_kafka_DeleteRecords_t, destroyed_by<rd_kafka_DeleteRecords_destroy>>;
using owned_asking =
    std::unique_ptr<rd_kafka_ListConsumerGroupOffsets_t, destroyed_by<rd_kafka_ListConsumerGroupOffsets_destroy>>;
using owned_commit =
    std::unique_ptr<rd_kafka_AlterConsumerGroupOffsets_t, destroyed_by<rd_kafka_AlterConsumerGroupOffsets_destroy>>;
using owned_group = std::unique_ptr<rd_kafka_DeleteGroup_t, destroyed_by<rd_kafka_DeleteGroup_destroy>>;

owned_partitions list_of(const std::string& topic, int count) {
    owned_partitions made(rd_kafka_topic_partition_list_new(count));
    for (int i = 0; i < count; ++i)
        rd_kafka_topic_partition_list_add(made.get(), topic.c_str(), i);
    return made;
}

std::string named(const std::string& topic, partition which) {
    return "topic '" + topic + "' partition " + std::to_string(which);
}

/// The answer for one group, or its failure.
result<const rd_kafka_topic_partition_list_t*> partitions_of(const rd_kafka_group_result_t* const* groups,
                                                             std::size_t count, const std::string& group) {
    if (count != 1) return error(errc::internal, "group '" + group + "': Kafka's answer is of no group");
    if (const auto* why = rd_kafka_group_result_error(groups[0]))
        return error_of(rd_kafka_error_code(why), "group '" + group + "'", rd_kafka_error_string(why));
    return rd_kafka_group_result_partitions(groups[0]);
}

}  // namespace

result<std::vector<std::int64_t>> cluster::list_offsets(const std::string& topic, int count, std::int64_t at) const {
    if (count == 0) return std::vector<std::int64_t>();
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_);
    for (auto pause = std::chrono::milliseconds(5);; pause *= 2) {
        rd_kafka_resp_err_t why = RD_KAFKA_RESP_ERR_NO_ERROR;
        auto made = list_offsets_once(topic, count, at, why);
        // Leaders move, and those of a new topic are not known at once; the library leaves that to who asks.
        const bool moved = why == RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION ||
                           why == RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE ||
                           why == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
        if (!moved || std::chrono::steady_clock::now() + pause > until) return made;
        std::this_thread::sleep_for(pause);
        (void)partitions(topic);
    }
}

result<std::vector<std::int64_t>> cluster::list_offsets_once(const std::string& topic, int count, std::int64_t at,
                                                             rd_kafka_resp_err_t& why) const {
    std::vector<std::int64_t> made(static_cast<std::size_t>(count), -1);
    const auto list = list_of(topic, count);
    for (int i = 0; i < count; ++i)
        list->elems[i].offset = at;
    why = rd_kafka_offsets_for_times(client_, list.get(), patience_);
    if (why != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(why, "offsets of topic '" + topic + "'");
    for (int i = 0; i < list->cnt; ++i) {
        const auto& each = list->elems[i];
        why = each.err;
        if (why != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(why, named(topic, each.partition));
        made.at(static_cast<std::size_t>(each.partition)) = each.offset;
    }
    return made;
}

result<std::vector<log_span>> cluster::spans(const std::string& topic, int count) const {
    // What asks for a time asks the protocol's ListOffsets, to which these two mean the ends.
    const auto low = list_offsets(topic, count, RD_KAFKA_OFFSET_BEGINNING);
    if (!low) return low.error();
    const auto high = list_offsets(topic, count, RD_KAFKA_OFFSET_END);
    if (!high) return high.error();
    std::vector<log_span> made(low->size());
    for (std::size_t i = 0; i < made.size(); ++i)
        made[i] = {(*low)[i], std::max((*low)[i], (*high)[i])};
    return made;
}

result<std::vector<std::int64_t>> cluster::offsets_since(const std::string& topic, int count, wall_time since) const {
    const auto at = std::chrono::floor<std::chrono::milliseconds>(since).time_since_epoch().count();
    auto made = list_offsets(topic, count, std::max<std::int64_t>(at, 0));
    if (!made) return made;
    const auto ends = spans(topic, count);
    if (!ends) return ends.error();
    for (std::size_t i = 0; i < made->size(); ++i) {
        const auto& span = (*ends)[i];
        auto& offset = (*made)[i];
        offset = offset < 0 ? span.high : std::max(offset, span.low);
    }
    return made;
}

error cluster::remove_before(const std::string& topic, const std::map<partition, std::int64_t>& offsets) const {
    if (offsets.empty()) return {};
    const owned_partitions list(rd_kafka_topic_partition_list_new(static_cast<int>(offsets.size())));
    for (const auto& [which, offset] : offsets)
        rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), which)->offset = offset;
    const owned_deletion wanted(rd_kafka_DeleteRecords_new(list.get()));
    auto* one = wanted.get();
    const auto told = answer(RD_KAFKA_ADMIN_OP_DELETERECORDS, "topic '" + topic + "'",
                             [&](auto* how, auto* queue) { rd_kafka_DeleteRecords(client_, &one, 1, how, queue); });
    if (!told) return told.error();
    const auto* left = rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(told->get()));
    for (int i = 0; i < left->cnt; ++i) {
        if (auto cause = error_of(left->elems[i].err, named(topic, left->elems[i].partition))) return cause;
    }
    return {};
}

result<std::map<partition, committed_offset>> cluster::committed(const std::string& group, const std::string& topic,
                                                                 int count) const {
    std::map<partition, committed_offset> made;
    if (count == 0) return made;
    const auto list = list_of(topic, count);
    const owned_asking wanted(rd_kafka_ListConsumerGroupOffsets_new(group.c_str(), list.get()));
    auto* one = wanted.get();
    const auto told =
        answer(RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS, "group '" + group + "'",
               [&](auto* how, auto* queue) { rd_kafka_ListConsumerGroupOffsets(client_, &one, 1, how, queue); });
    if (!told) return told.error();
    std::size_t size = 0;
    const auto* groups = rd_kafka_ListConsumerGroupOffsets_result_groups(
        rd_kafka_event_ListConsumerGroupOffsets_result(told->get()), &size);
    const auto found = partitions_of(groups, size, group);
    if (!found) return found.error();
    for (int i = 0; i < (*found)->cnt; ++i) {
        const auto& each = (*found)->elems[i];
        if (each.err != RD_KAFKA_RESP_ERR_NO_ERROR) return error_of(each.err, named(topic, each.partition));
        if (each.offset < 0) continue;
        // The library copies up to the first NUL, and tells the size that was sent.
        const auto* text = static_cast<const char*>(each.metadata);
        made[each.partition] = {each.offset, text ? std::string(text, ::strnlen(text, each.metadata_size)) : ""};
    }
    return made;
}

error cluster::commit(const std::string& group, const std::string& topic,
                      const std::map<partition, committed_offset>& offsets) const {
    if (offsets.empty()) return {};
    const owned_partitions list(rd_kafka_topic_partition_list_new(static_cast<int>(offsets.size())));
    for (const auto& [which, what] : offsets) {
        auto* added = rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), which);
        added->offset = what.offset;
        if (what.metadata.empty()) continue;
        added->metadata = ::malloc(what.metadata.size());  // the library frees it
        if (!added->metadata) throw std::bad_alloc();
        std::ranges::copy(what.metadata, static_cast<char*>(added->metadata));
        added->metadata_size = what.metadata.size();
    }
    const owned_commit wanted(rd_kafka_AlterConsumerGroupOffsets_new(group.c_str(), list.get()));
    auto* one = wanted.get();
    const auto told =
        answer(RD_KAFKA_ADMIN_OP_ALTERCONSUMERGROUPOFFSETS, "group '" + group + "'",
               [&](auto* how, auto* queue) { rd_kafka_AlterConsumerGroupOffsets(client_, &one, 1, how, queue); });
    if (!told) return told.error();
    std::size_t size = 0;
    const auto* groups = rd_kafka_AlterConsumerGroupOffsets_result_groups(
        rd_kafka_event_AlterConsumerGroupOffsets_result(told->get()), &size);
    const auto found = partitions_of(groups, size, group);
    if (!found) return found.error();
    for (int i = 0; i < (*found)->cnt; ++i) {
        const auto& each = (*found)->elems[i];
        if (auto cause = error_of(each.err, "group '" + group + "', " + named(topic, each.partition))) return cause;
    }
    return {};
}

result<std::vector<std::string>> cluster::groups() const {
    const auto told = answer(RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPS, "the groups",
                             [&](auto* how, auto* queue) { rd_kafka_ListConsumerGroups(client_, how, queue); });
    if (!told) return told.error();
    std::size_t count = 0;
    const auto* all =
        rd_kafka_ListConsumerGroups_result_valid(rd_kafka_event_ListConsumerGroups_result(told->get()), &count);
    std::vector<std::string> made;
    for (std::size_t i = 0; i < count; ++i)
        made.emplace_back(rd_kafka_ConsumerGroupListing_group_id(all[i]));
    return made;
}

result<std::size_t> cluster::members(const std::string& group) const {
    const char* one = group.c_str();
    const auto told =
        answer(RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, "group '" + group + "'",
               [&](auto* how, auto* queue) { rd_kafka_DescribeConsumerGroups(client_, &one, 1, how, queue); });
    if (!told) return told.error();
    std::size_t count = 0;
    const auto* all = rd_kafka_DescribeConsumerGroups_result_groups(
        rd_kafka_event_DescribeConsumerGroups_result(told->get()), &count);
    if (count != 1) return std::size_t{0};
    if (const auto* why = rd_kafka_ConsumerGroupDescription_error(all[0]))
        return error_of(rd_kafka_error_code(why), "group '" + group + "'", rd_kafka_error_string(why));
    return rd_kafka_ConsumerGroupDescription_member_count(all[0]);
}

error cluster::remove_group(const std::string& group) const {
    const owned_group wanted(rd_kafka_DeleteGroup_new(group.c_str()));
    auto* one = wanted.get();
    const auto told = answer(RD_KAFKA_ADMIN_OP_DELETEGROUPS, "group '" + group + "'",
                             [&](auto* how, auto* queue) { rd_kafka_DeleteGroups(client_, &one, 1, how, queue); });
    if (!told) return told.error();
    std::size_t count = 0;
    const auto* all = rd_kafka_DeleteGroups_result_groups(rd_kafka_event_DeleteGroups_result(told->get()), &count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto* why = rd_kafka_group_result_error(all[i]);
        if (why && rd_kafka_error_code(why) != RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND)
            return error_of(rd_kafka_error_code(why), "group '" + group + "'", rd_kafka_error_string(why));
    }
    return {};
}

}  // namespace shove::kafka_backend
