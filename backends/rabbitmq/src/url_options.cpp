#include "url_options.hpp"

#include <shove/spi/url_text.hpp>

#include <algorithm>
#include <limits>
#include <string>

namespace shove::rabbitmq_backend {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Enters a value; gives what it should have been where it cannot be entered, else nothing.
using setter = std::string_view (*)(rabbitmq::config&, const std::string& value);

/// One option: what it is called, and whether its value may be shown in an error.
struct option {
    std::string_view name;
    setter set;
    bool secret = false;
};

template <auto Member>
std::string_view set_text(rabbitmq::config& into, const std::string& value) {
    into.*Member = value;
    return {};
}

template <auto Member>
std::string_view set_flag(rabbitmq::config& into, const std::string& value) {
    const auto read = spi::truth(value);
    if (!read) return "true or false";
    into.*Member = *read;
    return {};
}

template <auto Member>
std::string_view set_count(rabbitmq::config& into, const std::string& value) {
    using number = std::remove_reference_t<decltype(into.*Member)>;
    const auto read = spi::whole_number(value);
    if (!read || *read > std::numeric_limits<number>::max()) return "a whole number in its range";
    into.*Member = static_cast<number>(*read);
    return {};
}

std::string_view set_queues(rabbitmq::config& into, const std::string& value) {
    if (value != "quorum" && value != "classic") return "quorum or classic";
    into.queues = value == "quorum" ? rabbitmq::queue_type::quorum : rabbitmq::queue_type::classic;
    return {};
}

std::string_view set_verify(rabbitmq::config& into, const std::string& value) {
    if (value != "verify_peer" && value != "verify_none") return "verify_peer or verify_none";
    into.verify_peer = value == "verify_peer";
    return {};
}

std::string_view set_heartbeat(rabbitmq::config& into, const std::string& value) {
    const auto read = spi::duration(value, seconds(1));
    if (!read || *read % seconds(1) != milliseconds(0)) return "whole seconds such as 30 or 30s, or 0 for none";
    into.heartbeat = std::chrono::duration_cast<seconds>(*read);
    return {};
}

std::string_view set_connect_timeout(rabbitmq::config& into, const std::string& value) {
    const auto read = spi::duration(value, milliseconds(1));
    if (!read) return "milliseconds, or a duration such as 500ms or 5s";
    into.connect_timeout = *read;
    return {};
}

std::string_view set_consumer_timeout(rabbitmq::config& into, const std::string& value) {
    const auto read = spi::duration(value, milliseconds(1));
    if (!read) return "milliseconds, a duration such as 30m, or 0 for none";
    into.consumer_timeout = *read;
    return {};
}

using config = rabbitmq::config;

constexpr option options[] = {
    {"queues", set_queues},
    {"heartbeat", set_heartbeat},
    {"frame_max", set_count<&config::frame_max>},
    {"channel_max", set_count<&config::channel_max>},
    {"connect_timeout", set_connect_timeout},
    {"connection_timeout", set_connect_timeout},
    {"connection_name", set_text<&config::connection_name>},
    {"ca_file", set_text<&config::ca_file>},
    {"cacertfile", set_text<&config::ca_file>},
    {"certificate_file", set_text<&config::certificate_file>},
    {"certfile", set_text<&config::certificate_file>},
    {"key_file", set_text<&config::key_file>},
    {"keyfile", set_text<&config::key_file>},
    {"verify", set_verify},
    {"verify_peer", set_flag<&config::verify_peer>},
    {"allow_plaintext_credentials", set_flag<&config::allow_plaintext_credentials>},
    {"management", set_text<&config::management>, true},
    {"management_user", set_text<&config::management_user>, true},
    {"management_password", set_text<&config::management_password>, true},
    {"consumers_per_connection", set_count<&config::consumers_per_connection>},
    {"max_unconfirmed", set_count<&config::max_unconfirmed>},
    {"consumer_timeout", set_consumer_timeout},
    {"allow_resharding", set_flag<&config::allow_resharding>},
    {"transactional", set_flag<&config::transactional>},
    {"exactly_once", set_flag<&config::transactional>},
};

error wrong(std::string text) {
    return {errc::invalid_argument, "RabbitMQ URL: " + std::move(text)};
}

error unknown_option(std::string_view name) {
    std::string text = "unknown option '" + std::string(name) + "'; known are ";
    for (const auto& known : options)
        text.append(&known == options ? "" : ", ").append(known.name);
    return wrong(std::move(text));
}

error set_option(rabbitmq::config& into, std::string_view name, std::string_view encoded) {
    const auto* found = std::ranges::find(options, name, &option::name);
    if (found == std::end(options)) return unknown_option(name);
    const auto value = spi::percent_decoded(encoded);
    if (!value) {
        return wrong("a % in the value of option '" + std::string(name) +
                     "' must be followed by two hexadecimal digits, not 00");
    }
    const auto expected = found->set(into, *value);
    if (expected.empty()) return {};
    return wrong("option '" + std::string(name) + "' cannot be " + (found->secret ? "that" : "'" + *value + "'") +
                 "; give " + std::string(expected));
}

}  // namespace

error set_options(rabbitmq::config& into, std::string_view query) {
    while (!query.empty()) {
        const auto end = query.find('&');
        const auto one = query.substr(0, end);
        const auto equals = one.find('=');
        const auto value = equals == one.npos ? std::string_view() : one.substr(equals + 1);
        if (auto cause = set_option(into, one.substr(0, equals), value)) return cause;
        query = end == query.npos ? std::string_view() : query.substr(end + 1);
    }
    return {};
}

}  // namespace shove::rabbitmq_backend
