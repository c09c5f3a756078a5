#pragma once

#include <shove/clock.hpp>
#include <shove/spi/backend.hpp>
#include <shove/spi/capabilities.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shove {

/// Apache Kafka.
///
/// A queue is a topic; a reader is a consumer group; a sequenced topic is one topic whose partitions are its shards.
/// Topics, groups and headers are those of other clients too: what they put into a record goes through retry, dead
/// letter and replay unchanged.
struct kafka {
    /// How a client proves who it is.
    enum class sasl_mechanism : std::uint8_t { none, plain, scram_sha_256, scram_sha_512, oauthbearer };

    /// Which partition a key goes to. All producers of a sequenced topic must agree.
    enum class key_partitioner : std::uint8_t {
        crc32,    ///< CRC32 of the key, as librdkafka and what is built on it do (`consistent_random`).
        murmur2,  ///< As Java's clients do (`murmur2_random`).
    };

    /// Where a group begins that has committed nothing, or whose offset is gone.
    enum class offset_reset : std::uint8_t {
        earliest,
        latest,
        none,  ///< Nowhere: its consumers end with an error that says so.
    };

    /// Where a broker listens.
    struct address {
        std::string host;        ///< A name, an IPv4 or an IPv6 address (without brackets).
        std::uint16_t port = 0;  ///< 0: 9092.
    };

    /// What proves to the broker who this client is, for some time. For `sasl_mechanism::oauthbearer`.
    struct token {
        std::string value;      ///< As it goes to the broker: a JWT, or what its login module reads.
        std::string principal;  ///< Whose it is.
        wall_time expires_at{};
        std::vector<std::pair<std::string, std::string>> extensions;  ///< Of SASL; mostly none.
    };
    /// Gets a token. Called from a thread of the client library, before the last one expires, for each connection's
    /// client on its own; it may block, and must be safe to call from several threads. An error is told to who waits,
    /// and it is asked again after 10 s.
    using token_source = std::function<result<token>()>;

    /// How a topic that `declare` makes is kept.
    struct topic_settings {
        std::uint32_t partitions = 0;   ///< 0: 8, or one for each shard.
        std::uint16_t replication = 0;  ///< Copies of each partition; 0: as the broker does by itself.
        /// The broker's topic configuration by name: `{"retention.ms", "86400000"}`. Also set on a topic that is there;
        /// entries that are not named here stay as they are.
        std::map<std::string, std::string> entries{};
    };

    struct config {
        /// Some brokers of one cluster; the others are found through them. Not empty.
        std::vector<address> servers{{"localhost", 0}};
        bool tls = false;
        std::filesystem::path ca_file;  ///< Certificates to trust, PEM; empty, as `ca_pem`: those of the system.
        std::filesystem::path certificate_file;  ///< The client's own certificate, PEM; empty, as its text: none.
        std::filesystem::path key_file;          ///< Its private key, PEM.
        std::string ca_pem;                      ///< The same as texts, in place of the files.
        std::string certificate_pem;
        std::string key_pem;
        std::string key_password;  ///< Of an encrypted key.
        bool verify_peer = true;   ///< Check the broker's certificate.
        bool verify_host = true;   ///< Check also that it is that host's.
        sasl_mechanism sasl = sasl_mechanism::none;
        std::string user;  ///< `plain` and `scram_…`.
        std::string password;
        token_source get_token;  ///< `oauthbearer`.
        /// Send a password or token without TLS to a host that is not this machine. Anybody on the way can read it.
        bool allow_plaintext_credentials = false;
        std::string client_id;  ///< Shown by the broker; empty: `shove-cpp-{pid}`.

        /// Every topic and group on the broker begins with this; queues are named without it. For clusters that many
        /// share.
        std::string prefix;
        topic_settings topics;  ///< Of every topic that `declare` makes, dead-letter topics' `entries` excepted.
        std::map<std::string, topic_settings>
            topic;  ///< Of single ones by name; what is set here goes before `topics`.
        /// Give a sequenced topic that holds messages more partitions: keys change their partition, and lose their
        /// order where messages wait. Without it that is refused.
        bool allow_repartitioning = false;

        key_partitioner partitioner = key_partitioner::crc32;
        std::string compression;  ///< `none`, `gzip`, `snappy`, `lz4`, `zstd`; empty: none.
        /// How long a message may wait for others to go with it. With 0 those go together that come while a request is
        /// on its way. A publish that is waited for takes at least this long. Less than `delivery_timeout`.
        std::chrono::milliseconds linger{0};
        std::size_t batch_bytes = 1'000'000;               ///< Largest batch of one partition.
        std::size_t max_unconfirmed = 100'000;             ///< Messages sent but not yet confirmed.
        std::chrono::milliseconds delivery_timeout{5000};  ///< Of one attempt; then its fate is unknown.

        std::string group_id;           ///< In place of `{queue}-consumer` and of its like; see the backend's page.
        std::string group_instance_id;  ///< Static membership; one for each process of a group. Empty: none.
        offset_reset reset = offset_reset::earliest;
        /// How long a group waits for a member that is not heard of.
        std::chrono::milliseconds session_timeout{10'000};
        /// Offsets are committed once in this time, and when `commit_count` messages are settled.
        std::chrono::milliseconds commit_interval{500};
        std::size_t commit_count = 1000;
        std::chrono::milliseconds fetch_wait{50};  ///< How long a broker holds a fetch back that finds nothing.
        /// Settle in Kafka transactions: the copy of a retry or dead letter and the offset of its original are one
        /// step, so that the death of this process never doubles a message. Slower; the backend's page says what it
        /// promises.
        bool transactional = false;

        std::chrono::milliseconds connect_timeout{10'000};  ///< Of a question to the cluster.
        /// Anything else that librdkafka can be told, by its name: `{"socket.keepalive.enable", "true"}`. What is set
        /// above, or what this library needs to be as it is (`enable.auto.commit`, …), is refused.
        std::map<std::string, std::string> properties;
    };

    static constexpr spi::capabilities capabilities{
        .backend = "kafka",
        .durable = true,
        .several_processes = true,
        .delayed_publish = true,
        .any_delay = true,
        .crash_budget = true,
        .admin = true,
        .key_order = true,
        .keeps_keys = true,
        .broadcast = true,
        .broadcast_history = true,
        .reader_groups = true,
        .external_topology = true,
        .lease = std::chrono::seconds(3),
        .max_message_bytes = 128 * 1024 * 1024,
        .max_queue_name_bytes = 249,
        .max_header_bytes = 1024 * 1024,
    };
    static constexpr std::array<std::string_view, 2> schemes{"kafka", "kafkas"};

    /// Reads `kafka://user:password@host:9092,other-host?option=value&...`; `kafkas` means TLS.
    ///
    /// What is left out keeps its default; a user means `sasl=plain` unless another is given. In user, password and
    /// values `%2F` stands for a slash, and so on. IPv6 addresses stand in brackets. Fields of `config` are options of
    /// their names, beside `sasl=plain|scram-sha-256|scram-sha-512`, `partitioner=crc32|murmur2`,
    /// `reset=earliest|latest|none`; `partitions` and `replication` are those of `topics`, `topic.NAME` is one of its
    /// entries; `exactly_once` is another name of `transactional`. Any other option is a property of librdkafka.
    /// Durations are `500ms`, `30s`, `5m`; a bare number means milliseconds.
    /// @par Errors  `errc::invalid_argument`; the detail names the part that is wrong, and never holds a password.
    static result<config> parse(std::string_view url);

    /// Checks the settings; connects when it is first needed.
    /// @par Errors  `errc::invalid_argument` for settings that break a rule; the detail names the setting and the
    /// remedy.
    static result<std::shared_ptr<spi::driver>> open(const config& settings, const spi::driver_context& context);
};

static_assert(spi::backend<kafka>);

}  // namespace shove
