#pragma once

#include <shove/kafka.hpp>
#include <shove/topology.hpp>

#include <cstdint>
#include <optional>
#include <vector>

/// Where readers of a Kafka topic stand, and how to put them elsewhere.
namespace shove {

/// How far a group has read one partition.
struct kafka_offset {
    std::int32_t partition = 0;
    std::int64_t low = 0;   ///< The first offset there is.
    std::int64_t high = 0;  ///< Behind the last one.
    /// All before it is settled; nothing: the group has committed nothing, and begins where `config::reset` says.
    std::optional<std::int64_t> committed{};
    std::uint64_t lag = 0;  ///< Records that are not settled.
};

/// Where a group is put.
struct kafka_position {
    enum class kind : std::uint8_t {
        head,    ///< Before the first record there is: all is handled again.
        tail,    ///< Behind the last: what waits is passed over.
        time,    ///< Before the first record that is not older than `when`.
        offset,  ///< `offset`, in each partition; where the log begins later or ends earlier, there.
    };
    kind to = kind::tail;
    wall_time when{};
    std::int64_t offset = 0;
};

/// Where the group that reads a topology stands, by partition.
/// @param of  Of a reader group: that group's.
/// @par Blocking      For some answers of the cluster, `config::connect_timeout` at most each.
/// @par Thread safety  Safe.
/// @par Errors        `errc::invalid_argument` for settings that break a rule; `errc::invalid_topology`, also of a
///                    broadcast, which has no group; `errc::unknown_queue`, `errc::not_connected`, `errc::timed_out`.
result<std::vector<kafka_offset>> kafka_offsets(const kafka::config& settings, const topology& of);

/// Puts the group elsewhere, and gives where it stands then. What it had settled out of order is forgotten. Messages
/// that wait in other topics for their next call stay where they are.
/// @par Errors  As `kafka_offsets`; `errc::storage_busy` while the group has members: they commit by themselves. Stop
/// the
///              consumers first.
result<std::vector<kafka_offset>> reset_kafka_offsets(const kafka::config& settings, const topology& of,
                                                      const kafka_position& where);

}  // namespace shove
