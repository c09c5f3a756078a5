#include <shove/spi/server_url.hpp>

#include <string>

#include "check_config.hpp"
#include "management_url.hpp"

namespace shove::rabbitmq_backend {

namespace {

std::string management_text(const rabbitmq::config& it) {
    if (it.management.empty()) return "none";
    const auto where = parse_management_url(it.management);
    return where ? it.management : "invalid";  // an invalid one may hold a password
}

}  // namespace

std::string redacted(const rabbitmq::config& it) {
    std::string servers;
    for (const auto& server : it.servers)
        servers.append(servers.empty() ? "" : ",")
            .append(spi::address_text(server.host, server.port != 0 ? server.port
                                                   : it.tls         ? 5671
                                                                    : 5672));
    const auto flag = [](bool on) { return on ? "true" : "false"; };
    std::string text = it.tls ? "amqps://" : "amqp://";
    text += servers + " virtual_host=" + it.virtual_host + " user=" + it.user;
    if (it.tls) {
        text += std::string(" verify_peer=") + flag(it.verify_peer) + " ca_file=" + it.ca_file.string() +
                " certificate_file=" + it.certificate_file.string() + " key_file=" + it.key_file.string();
    }
    text += std::string(" allow_plaintext_credentials=") + flag(it.allow_plaintext_credentials) +
            " queues=" + (it.queues == rabbitmq::queue_type::quorum ? "quorum" : "classic") +
            " heartbeat=" + std::to_string(it.heartbeat.count()) + "s frame_max=" + std::to_string(it.frame_max) +
            " channel_max=" + std::to_string(it.channel_max) +
            " connect_timeout=" + std::to_string(it.connect_timeout.count()) +
            "ms connection_name=" + it.connection_name + " management=" + management_text(it) +
            " management_user=" + it.management_user +
            " consumers_per_connection=" + std::to_string(it.consumers_per_connection) +
            " max_unconfirmed=" + std::to_string(it.max_unconfirmed) + " transactional=" + flag(it.transactional);
    return text;
}

}  // namespace shove::rabbitmq_backend
