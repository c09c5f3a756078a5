#include "url_options.hpp"

#include <shove/spi/url_options.hpp>

#include <span>
#include <string>

namespace shove::rabbitmq_backend {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

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

std::string_view set_consumer_timeout(rabbitmq::config& into, const std::string& value) {
    const auto read = spi::duration(value, milliseconds(1));
    if (!read) return "milliseconds, a duration such as 30m, or 0 for none";
    into.consumer_timeout = *read;
    return {};
}

using config = rabbitmq::config;

constexpr spi::url_option<config> options[] = {
    {"queues", set_queues},
    {"heartbeat", set_heartbeat},
    {"frame_max", spi::set_count<config, &config::frame_max>},
    {"channel_max", spi::set_count<config, &config::channel_max>},
    {"connect_timeout", spi::set_duration<config, &config::connect_timeout>},
    {"connection_timeout", spi::set_duration<config, &config::connect_timeout>},
    {"connection_name", spi::set_text<config, &config::connection_name>},
    {"ca_file", spi::set_text<config, &config::ca_file>},
    {"cacertfile", spi::set_text<config, &config::ca_file>},
    {"certificate_file", spi::set_text<config, &config::certificate_file>},
    {"certfile", spi::set_text<config, &config::certificate_file>},
    {"key_file", spi::set_text<config, &config::key_file>},
    {"keyfile", spi::set_text<config, &config::key_file>},
    {"verify", set_verify},
    {"verify_peer", spi::set_flag<config, &config::verify_peer>},
    {"allow_plaintext_credentials", spi::set_flag<config, &config::allow_plaintext_credentials>},
    {"management", spi::set_text<config, &config::management>, true},
    {"management_user", spi::set_text<config, &config::management_user>, true},
    {"management_password", spi::set_text<config, &config::management_password>, true},
    {"consumers_per_connection", spi::set_count<config, &config::consumers_per_connection>},
    {"max_unconfirmed", spi::set_count<config, &config::max_unconfirmed>},
    {"consumer_timeout", set_consumer_timeout},
    {"allow_resharding", spi::set_flag<config, &config::allow_resharding>},
    {"transactional", spi::set_flag<config, &config::transactional>},
    {"exactly_once", spi::set_flag<config, &config::transactional>},
};

}  // namespace

error set_options(rabbitmq::config& into, std::string_view query) {
    constexpr std::string_view prefix = "RabbitMQ URL: ";
    const std::span<const spi::url_option<config>> known(options);
    return spi::read_url_options(into, query, known, prefix, [&](const std::string& name, const std::string&) {
        return spi::unknown_url_option(name, known, prefix);
    });
}

}  // namespace shove::rabbitmq_backend
