#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "handle.hpp"

namespace shove::kafka_backend {

/// A topic to be made.
struct new_topic {
    std::string name;
    int partitions = 1;
    int replication = 0;  ///< 0: as the broker does by itself.
    std::map<std::string, std::string> entries;
};

/// One entry of a topic's configuration.
struct topic_entry {
    std::string value;
    bool has_value = false;  ///< A sensitive one is not told.
    bool own = false;        ///< Set on this topic, not inherited.
};

/// The log of one partition.
struct log_span {
    std::int64_t low = 0;   ///< The first offset there is.
    std::int64_t high = 0;  ///< One after the last that a reader of committed messages gets.
};

/// What a group has committed for one partition.
struct committed_offset {
    std::int64_t offset = 0;
    /// Text: to the broker it is a string (bytes that are no UTF-8 do not survive), to librdkafka it ends at a NUL. At
    /// most 4,096 bytes.
    std::string metadata;
};

using partition = std::int32_t;

/// Calls of a cluster that block for their answer, at most `patience` each: for a thread that may.
/// @par Thread safety  None; the client may be used by others.
/// @par Errors  As `error_of`; each text names what was asked for.
class cluster {
public:
    /// @param patience  In milliseconds.
    cluster(rd_kafka_t* client, int patience) noexcept : client_(client), patience_(patience) {}

    /// Partitions of a topic; 0: there is no such topic.
    result<int> partitions(const std::string& topic) const;
    /// All topics and their partitions.
    result<std::map<std::string, int>> topics() const;
    /// Makes topics, and waits until they can be used. One that exists stays as it is.
    error make(const std::vector<new_topic>& wanted) const;
    /// Gives a topic more partitions, `total` of them, and waits until they can be used.
    error grow(const std::string& topic, int total) const;
    error remove(const std::vector<std::string>& topics) const;
    result<std::map<std::string, topic_entry>> entries(const std::string& topic) const;
    /// Replaces all entries that are set on the topic.
    error set_entries(const std::string& topic, const std::map<std::string, std::string>& all) const;

    /// The logs of partitions 0 to `count` - 1.
    result<std::vector<log_span>> spans(const std::string& topic, int count) const;
    /// The first offset of each partition whose record is not older than that; `high` where there is none.
    result<std::vector<std::int64_t>> offsets_since(const std::string& topic, int count, wall_time since) const;
    /// Forgets what lies before these offsets.
    error remove_before(const std::string& topic, const std::map<partition, std::int64_t>& offsets) const;

    /// By partition; those for which nothing was committed are left out. A group that does not exist has none.
    result<std::map<partition, committed_offset>> committed(const std::string& group, const std::string& topic,
                                                            int count) const;
    /// Commits for a group that has no members.
    error commit(const std::string& group, const std::string& topic,
                 const std::map<partition, committed_offset>& offsets) const;
    /// All groups of the cluster.
    result<std::vector<std::string>> groups() const;
    /// How many members a group has; 0 where there is no such group.
    result<std::size_t> members(const std::string& group) const;
    error remove_group(const std::string& group) const;

private:
    /// Sends one request of the Admin API by `begin(options, queue)`; gives its answer.
    template <class Begin>
    result<owned_event> answer(rd_kafka_admin_op_t what, const std::string& for_whom, Begin&& begin) const;
    result<std::vector<std::int64_t>> list_offsets(const std::string& topic, int count, std::int64_t at) const;
    result<std::vector<std::int64_t>> list_offsets_once(const std::string& topic, int count, std::int64_t at,
                                                        rd_kafka_resp_err_t& why) const;

    /// What is made shows in the metadata a little later.
    error wait_for(const std::string& topic, int count) const;

    rd_kafka_t* client_;
    int patience_;
};

}  // namespace shove::kafka_backend
