#pragma once

#include <shove/error.hpp>
#include <shove/message.hpp>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shove::rabbitmq_backend {

/// Where the management HTTP API of a broker is, and as whom to ask it.
struct management_options {
    /// `http` or `https`, host, port (default 80 or 443; brokers listen on 15672 or 15671) and, where a proxy adds one,
    /// a path prefix: `https://rabbit.example:15671/mq`. No user, query or fragment.
    std::string url;
    std::string user;      ///< Needs the tag `management` or `monitoring`. No colon.
    std::string password;  ///< Sent in each request (HTTP basic authentication), shown nowhere.
    std::string virtual_host = "/";
    /// PEM certificates to trust for `https`, instead of those that the system trusts. Empty: the system's.
    std::filesystem::path ca_file;
    /// False: `https` accepts any certificate, of any host.
    bool verify_peer = true;
    /// Limit of looking up the host, connecting and the TLS handshake together.
    std::chrono::milliseconds connect_timeout{5'000};
    /// Limit of a whole call, with all its requests.
    std::chrono::milliseconds total_timeout{10'000};
};

/// Arguments of a queue or binding: name, and the value as text (a string as it is, all else as JSON).
using argument_list = std::vector<std::pair<std::string, std::string>>;

/// What the broker last noted about a queue. Counters lag by up to 5 s, each on its own; those not noted yet are 0.
struct queue_stats {
    std::string name;
    std::uint64_t ready = 0;
    std::uint64_t unacknowledged = 0;
    std::uint64_t consumers = 0;
    std::string type;  ///< `classic`, `quorum` or `stream`.
    bool durable = false;
    argument_list arguments;
    /// The `timestamp` property of the message at the head, in whole seconds, where its publisher has set it. Only
    /// classic queues note it, and not at all times.
    std::optional<wall_time> head_published;
    std::string state;  ///< `running`, `idle`, `down`, …; empty: not noted yet.
};

/// A binding that leads from an exchange to a queue or to another exchange.
struct binding_info {
    std::string destination;
    std::string destination_type;  ///< `queue` or `exchange`.
    std::string routing_key;
    argument_list arguments;
};

/// What a broker says of itself.
struct broker_facts {
    std::string rabbitmq_version;
    std::string erlang_version;
    std::string cluster_name;
    std::string node;  ///< The one that answered.
    /// True: this broker is set to collect no statistics, so all counters of `queue_stats` are 0 for ever.
    bool statistics_disabled = false;
};

/// Asks the management HTTP API of one broker, in blocking calls, over one connection that is kept between them and
/// dialled again where it has gone stale.
///
/// @par Thread safety  One call at a time; `stop` from any thread.
/// @par Errors         `errc::not_connected`: no connection, a timeout, or an answer other than success (3xx, 5xx, …).
///                     `errc::invalid_argument`: the user is refused (401, 403), the virtual host is not there, or a
///                     name cannot be one. `errc::decode_failed`: the answer is not the JSON that the API documents.
///                     `errc::too_large`: an answer of over 16 MiB. `errc::closed`: stopped. No text holds credentials.
/// @par Lifetime       A look-up of the host's name cannot be interrupted. A call that gives up on one returns in
///                     time, but the destructor waits until the system's resolver has given up too.
class management {
public:
    /// Checks the options; connects to nothing yet.
    /// @par Errors  `errc::invalid_argument`, with option and remedy, but without the URL: it may hold a password.
    static result<std::unique_ptr<management>> make(management_options options);
    management(const management&) = delete;
    management& operator=(const management&) = delete;
    ~management();

    /// One queue of the virtual host.
    /// @par Errors  `errc::unknown_queue` (404), and those of the class.
    result<queue_stats> queue(std::string_view name);
    /// All queues of the virtual host, by name; 500 per request. One made or deleted meanwhile may be missed, or hide
    /// another.
    result<std::vector<queue_stats>> queues();
    /// Where messages published to an exchange go. Empty name: the default exchange. Of an exchange that is not there
    /// the broker may give an empty list, too.
    /// @par Errors  Those of the class; `errc::invalid_argument` also if the broker knows no such exchange.
    result<std::vector<binding_info>> bindings_of_exchange(std::string_view name);
    /// Versions and names: one small request, good as a ping.
    result<broker_facts> overview();

    /// Ends the running call and all later ones with `errc::closed`. Idempotent.
    void stop();

private:
    class asker;
    explicit management(std::unique_ptr<asker> asks);
    std::unique_ptr<asker> asks_;
};

}  // namespace shove::rabbitmq_backend
