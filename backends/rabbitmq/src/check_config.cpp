#include "check_config.hpp"

#include <shove/spi/server_url.hpp>

#include <algorithm>
#include <utility>

#include "management_url.hpp"

namespace shove::rabbitmq_backend {

namespace {

using namespace std::chrono_literals;

error wrong(std::string text) {
    return {errc::invalid_argument, "RabbitMQ settings: " + std::move(text)};
}

error check_range(std::string_view name, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
    if (value >= least && value <= most) return {};
    return wrong(std::string(name) + " cannot be " + std::to_string(value) + "; give " + std::to_string(least) +
                 " to " + std::to_string(most));
}

/// Names travel with one byte for their size.
error check_name(std::string_view name, std::string_view value, std::size_t least) {
    if (value.size() > 255)
        return wrong(std::string(name) + " has " + std::to_string(value.size()) + " bytes; the limit is 255");
    if (value.size() < least) return wrong(std::string(name) + " must not be empty");
    if (value.find('\0') != value.npos) return wrong(std::string(name) + " must not hold a NUL");
    return {};
}

error check_names(const rabbitmq::config& it) {
    if (auto cause = check_name("virtual_host", it.virtual_host, 1)) return cause;
    if (auto cause = check_name("user", it.user, 1)) return cause;
    if (auto cause = check_name("password", it.password, 0)) return cause;
    if (auto cause = check_name("management_user", it.management_user, 0)) return cause;
    if (auto cause = check_name("management_password", it.management_password, 0)) return cause;
    return check_name("connection_name", it.connection_name, 0);
}

error check_numbers(const rabbitmq::config& it) {
    // The client library reads nested headers recursively; a frame of this size cannot exhaust a thread's stack.
    if (auto cause = check_range("frame_max", it.frame_max, 4096, 131'072)) return cause;
    if (auto cause = check_range("channel_max", it.channel_max, 1, 65'535)) return cause;
    if (it.heartbeat < 0s || it.heartbeat > 65'535s)
        return wrong("heartbeat cannot be " + std::to_string(it.heartbeat.count()) +
                     "s; give 1s to 65535s, or 0 for none");
    if (it.connect_timeout < 1ms || it.connect_timeout > 1h)
        return wrong("connect_timeout cannot be " + std::to_string(it.connect_timeout.count()) + "ms; give 1ms to 60m");
    if (it.consumer_timeout != 0ms && (it.consumer_timeout < 1s || it.consumer_timeout > 24h * 365))
        return wrong("consumer_timeout cannot be " + std::to_string(it.consumer_timeout.count()) +
                     "ms; give that of the server, from 1s on, or 0 where it has none");
    // The owner of a shard has a second channel, for the shard's state.
    if (it.consumers_per_connection > std::max<std::size_t>(it.channel_max / 2U, 1))
        return wrong("consumers_per_connection cannot be " + std::to_string(it.consumers_per_connection) +
                     "; a consumer may need two channels, so give at most half of channel_max, which is " +
                     std::to_string(it.channel_max));
    if (auto cause = check_range("consumers_per_connection", it.consumers_per_connection, 1, it.channel_max))
        return cause;
    return check_range("max_unconfirmed", it.max_unconfirmed, 1, 1'000'000);
}

error check_servers(const rabbitmq::config& it) {
    if (it.servers.empty()) return wrong("servers must not be empty; give at least one host");
    for (std::size_t i = 0; i < it.servers.size(); ++i) {
        if (spi::plausible_host(it.servers[i].host)) continue;
        return wrong("server " + std::to_string(i + 1) +
                     " is no host name or address of 1 to 255 printable characters");
    }
    return {};
}

error check_tls(const rabbitmq::config& it) {
    if (it.certificate_file.empty() != it.key_file.empty())
        return wrong("certificate_file and key_file belong together; give both or none");
    const bool given = !it.ca_file.empty() || !it.certificate_file.empty();
    if (given && !it.tls)
        return wrong("ca_file, certificate_file and key_file need TLS; use amqps:// or set tls, or leave them out");
    return {};
}

error check_plaintext(const rabbitmq::config& it) {
    if (it.tls || it.allow_plaintext_credentials) return {};
    const auto remote = std::ranges::find_if(it.servers, [](const auto& s) { return !spi::is_loopback(s.host); });
    if (remote == it.servers.end()) return {};
    return wrong("user and password would go to '" + remote->host +
                 "' unencrypted; use amqps:// or, where the network is trusted, allow_plaintext_credentials=true");
}

error check_management(const rabbitmq::config& it) {
    if (it.management.empty()) {
        if (it.management_user.empty() && it.management_password.empty()) return {};
        return wrong("management_user and management_password need management, the address of the API");
    }
    if (it.management_user.empty() && !it.management_password.empty())
        return wrong("management_password needs management_user");
    const auto where = parse_management_url(it.management);
    if (!where) return where.error();
    if (where->tls || spi::is_loopback(where->host) || it.allow_plaintext_credentials) return {};
    return wrong("user and password would go to the management API at '" + where->host +
                 "' unencrypted; use https:// or, where the network is trusted, allow_plaintext_credentials=true");
}

}  // namespace

error check_config(const rabbitmq::config& settings) {
    for (const auto check : {check_names, check_numbers, check_servers, check_tls, check_plaintext, check_management}) {
        if (auto cause = check(settings)) return cause;
    }
    return {};
}

}  // namespace shove::rabbitmq_backend
