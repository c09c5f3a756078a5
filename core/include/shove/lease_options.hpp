#pragma once

#include <shove/clock.hpp>
#include <shove/error.hpp>
#include <shove/executor.hpp>
#include <shove/lease_message.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shove {

/// How much a lease broker keeps. A durable store is made with these; opened with others it answers
/// `errc::configuration_conflict`, and only `shove store set-limit` changes them. Beyond a limit it fails closed:
/// nothing is dropped to make room.
struct lease_limits {
    std::uint64_t retained_messages = 10'000;  ///< Of all topics, 1 to 100,000,000. Freed by purging only.
    std::uint32_t subscriptions = 128;         ///< Pairs of topic and group, 1 to 65,536.
    std::uint32_t attempts = 5;             ///< Deliveries of a message to a group, 1 to 100; then it is a dead letter.
    std::size_t payload_bytes = 1'048'576;  ///< 1 to 16 MiB (16,777,216).

    friend bool operator==(const lease_limits&, const lease_limits&) = default;
};

/// What goes by itself, in small steps behind the publishers' back. Not stored: each process that opens the store
/// may set its own. Only what is finished for every group of its topic goes, or has a topic without groups; a dead
/// letter never does.
struct lease_retention {
    std::optional<milliseconds> age{};             ///< Finished messages older than this go; nothing: none by age.
    std::optional<std::uint64_t> payload_bytes{};  ///< While payloads retained are more than this, the oldest go.
    milliseconds every{1'000};                     ///< Time between two looks.

    bool enabled() const noexcept { return age || payload_bytes; }
};

/// How a lease broker works inside this process.
struct lease_options {
    /// A part of the store that sees nothing of the others: its own topics, keys, tokens and limits. As a group's name.
    std::string name_space = "default";
    lease_limits limits{};
    lease_retention retention{};
    /// Where time comes from; null: the machine.
    std::shared_ptr<shove::clock> clock{};
    /// Where the completions of `async_` forms run; nothing: Asio's system executor.
    broker_executor executor{};
};

/// What a lease broker holds.
struct lease_stats {
    lease_limits limits;
    std::uint64_t retained = 0;
    std::uint64_t payload_bytes = 0;  ///< Of retained messages; of a sealed one, of what is stored.
    std::uint32_t subscriptions = 0;
    std::vector<lease_topic_stats> topics;  ///< In order of their names.
};

}  // namespace shove
