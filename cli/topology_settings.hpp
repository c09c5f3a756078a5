#pragma once

#include <shove/broker.hpp>
#include <shove/clock.hpp>
#include <shove/topic.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "console.hpp"

namespace CLI {
class App;
}

namespace shove::cli {

/// The layout of one queue as flags or a topology file give it.
struct topic_settings {
    std::string queue;
    std::vector<milliseconds> holds;
    bool dlq = false;
    std::string dlq_name;  ///< Empty: the derived one.
    bool allow_message_loss = false;
    std::optional<std::uint32_t> max_retries;
    std::optional<sequence_failure> sequenced;
    std::optional<std::uint16_t> shards;
    std::string key_field;  ///< The member of a JSON body that is its key; empty: none.

    /// Checks the rules. Error: `errc::invalid_topology`.
    result<runtime_topic> make() const;
};

/// `--hold`, `--dlq`, `--dlq-named`, `--max-retries`, `--allow-message-loss`, `--sequenced`, `--shards`, `--key-field`,
/// `--topology FILE`.
struct topology_flags {
    topic_settings layout;
    std::string file;

    /// Whether any of them says how the queue is laid out.
    bool given() const noexcept;
};

void add_topology_options(CLI::App& app, topology_flags& flags);

/// Reads a topology file: all its topics, each checked. Throws `usage_failure` that names file, line and key.
std::vector<topic_settings> read_topology_file(const std::string& path);

/// The layout of a queue by flags or file. Throws `usage_failure`.
topic_settings settings_for(const std::string& queue, const topology_flags& flags);
/// `settings.make()`, or throws `usage_failure`.
runtime_topic make_topic(const topic_settings& settings);

/// A topic ready to publish to or to consume from.
struct declared_topic {
    runtime_topic topic;
    topic_settings settings;
};

/// Finds the layout and declares it. A queue that is there already keeps its dead-letter queue where nothing
/// else was asked for; one that is new is told of on the console. Throws `usage_failure`, `exception`.
declared_topic declare_topic(const any_broker& broker, console& to, const std::string& queue,
                             const topology_flags& flags);

/// Whether a queue of that name is a shard of the sequenced topic `queue`.
bool is_shard_of(const std::string& name, const std::string& queue);

/// Throws `usage_failure` where the broker has the queue sequenced otherwise than the layout says: messages would
/// be looked for where they are not, and publishers would not agree on a key's shard. Needs `capabilities::admin`.
void check_shards(const any_broker& broker, const queue_topology& layout);

/// What the broker knows of a queue, if it knows it. Needs `capabilities::admin`, else nothing.
std::optional<spi::queue_info> find_queue(const any_broker& broker, const std::string& queue);

/// The name of a queue's dead-letter queue, by flags, file or broker, else the derived one. Throws
/// `failure` where the broker has no such queue.
std::string dead_queue_of(const any_broker& broker, const std::string& queue, const topology_flags& flags);

}  // namespace shove::cli
