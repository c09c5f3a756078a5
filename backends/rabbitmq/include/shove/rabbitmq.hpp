#pragma once

#include <shove/spi/backend.hpp>
#include <shove/spi/capabilities.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace shove {

/// RabbitMQ, over AMQP 0-9-1.
///
/// Queues, hold queues and dead-letter queues are the broker's own, so that other clients may publish to them and read
/// them. What other clients put into a message (headers of any type, properties) goes through retry, dead letter and
/// replay unchanged.
struct rabbitmq {
    /// How the broker keeps a queue that `declare` makes.
    enum class queue_type : std::uint8_t {
        quorum,   ///< Replicated to several nodes; survives the loss of a minority of them.
        classic,  ///< On one node.
    };

    /// Where a broker listens.
    struct address {
        std::string host;        ///< A name, an IPv4 or an IPv6 address (without brackets).
        std::uint16_t port = 0;  ///< 0: 5672, or 5671 with TLS.
    };

    struct config {
        /// Nodes of one cluster; the first that can be reached is used. Not empty.
        std::vector<address> servers{{"localhost", 0}};
        std::string virtual_host = "/";
        std::string user = "guest";
        std::string password = "guest";
        bool tls = false;
        std::filesystem::path ca_file;           ///< Certificates to trust, PEM; empty: those of the system.
        std::filesystem::path certificate_file;  ///< The client's own certificate, PEM; empty: none.
        std::filesystem::path key_file;          ///< Its private key, PEM.
        bool verify_peer = true;                 ///< Check the broker's certificate and host name.
        /// Send user and password without TLS to a host that is not this machine. Anybody on the way can read them.
        bool allow_plaintext_credentials = false;
        rabbitmq::queue_type queues = queue_type::quorum;
        std::chrono::seconds heartbeat{30};  ///< 0: none.
        /// Largest frame in bytes, 4,096 to 131,072. A message's headers, and the errors noted with it, fit into one.
        std::uint32_t frame_max = 131'072;
        std::uint16_t channel_max = 2047;
        std::chrono::milliseconds connect_timeout{5000};
        std::string connection_name;  ///< Shown by the broker; empty: `shove-cpp-{pid}`.
        /// The management API, `http://host:15672`; without user and password. Empty: none; then there is no `admin`,
        /// and what other processes hold of a queue is not counted.
        std::string management;
        std::string management_user;      ///< Empty: the broker's.
        std::string management_password;  ///< Empty: the broker's, if `management_user` is empty too.
        std::size_t consumers_per_connection = 50;
        std::size_t max_unconfirmed = 1000;  ///< Messages sent but not yet confirmed, per publishing channel.
        /// The server's setting of that name: a channel that keeps a delivery for longer is closed there. It is given
        /// back before that, at four fifths of it. 0: the server has none.
        std::chrono::milliseconds consumer_timeout = std::chrono::minutes(30);
        /// Declare a sequenced topic with another number of shards than it has, though it is in use: keys change their
        /// shard, and lose their order where messages wait. Without it that is refused.
        bool allow_resharding = false;
        /// Settle in broker transactions: a retry's or dead letter's copy and the end of its original are one step, so
        /// that the death of this process never doubles a message. Slower; the backend's page says what it promises.
        bool transactional = false;
    };

    static constexpr spi::capabilities capabilities{
        .backend = "rabbitmq",
        .durable = true,
        .several_processes = true,
        .delayed_publish = true,
        .any_delay = true,
        .crash_budget = true,
        .admin = true,
        .key_order = true,
        .keeps_keys = true,
        .broadcast = true,
        .reader_groups = true,
        .external_topology = true,
        .max_delay = std::chrono::hours(24 * 24),
        .max_message_bytes = 128 * 1024 * 1024,
        .max_header_bytes = 100 * 1024,
        .sorts_headers = true,
    };
    static constexpr std::array<std::string_view, 2> schemes{"amqp", "amqps"};

    /// Reads `amqp://user:password@host:5672,other-host/virtual-host?option=value&...`; `amqps` means TLS.
    ///
    /// What is left out keeps its default. In user, password, virtual host and values `%2F` stands for a slash, and so
    /// on; an `@` outside of its place must be written `%40`. IPv6 addresses stand in brackets. Each field of `config`
    /// is an option of its name, beside: `queues=quorum|classic`, `verify=verify_peer|verify_none`; `cacertfile`,
    /// `certfile`, `keyfile`, `connection_timeout` and `exactly_once` (for `transactional`) are second names. Durations
    /// are `500ms`, `30s`, `5m`; a bare number means seconds for `heartbeat` and milliseconds for `connect_timeout`.
    /// @par Errors  `errc::invalid_argument`; the detail names the part that is wrong, and never holds a password.
    static result<config> parse(std::string_view url);

    /// Connects.
    /// @par Errors  `errc::invalid_argument` for settings that break a rule, `errc::not_connected` where no server
    ///              answers; the detail names the setting or the server, and the remedy.
    static result<std::shared_ptr<spi::driver>> open(const config& settings, const spi::driver_context& context);
};

static_assert(spi::backend<rabbitmq>);

}  // namespace shove
