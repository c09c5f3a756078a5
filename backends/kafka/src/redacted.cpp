#include <string>

#include "check_config.hpp"
#include "settings.hpp"

namespace shove::kafka_backend {

namespace {

const char* text_of(kafka::sasl_mechanism how) noexcept {
    switch (how) {
        case kafka::sasl_mechanism::plain:
            return "plain";
        case kafka::sasl_mechanism::scram_sha_256:
            return "scram-sha-256";
        case kafka::sasl_mechanism::scram_sha_512:
            return "scram-sha-512";
        case kafka::sasl_mechanism::oauthbearer:
            return "oauthbearer";
        case kafka::sasl_mechanism::none:
            break;
    }
    return "none";
}

std::string time_text(std::chrono::milliseconds time) {
    return std::to_string(time.count()) + "ms";
}

}  // namespace

std::string redacted(const kafka::config& it) {
    const auto flag = [](bool on) { return on ? "true" : "false"; };
    std::string text = (it.tls ? "kafkas://" : "kafka://") + servers_text(it) + " sasl=" + text_of(it.sasl);
    if (!it.user.empty()) text += " user=" + it.user;
    if (it.tls) {
        text += std::string(" verify_peer=") + flag(it.verify_peer) + " verify_host=" + flag(it.verify_host) +
                " ca_file=" + it.ca_file.string() + " certificate_file=" + it.certificate_file.string() +
                " key_file=" + it.key_file.string();
    }
    text += std::string(" allow_plaintext_credentials=") + flag(it.allow_plaintext_credentials) +
            " client_id=" + it.client_id + " prefix=" + it.prefix +
            " partitioner=" + (it.partitioner == kafka::key_partitioner::murmur2 ? "murmur2" : "crc32") +
            " compression=" + (it.compression.empty() ? "none" : it.compression) + " linger=" + time_text(it.linger) +
            " delivery_timeout=" + time_text(it.delivery_timeout) + " group_id=" + it.group_id +
            " group_instance_id=" + it.group_instance_id + " session_timeout=" + time_text(it.session_timeout) +
            " commit_interval=" + time_text(it.commit_interval) + " transactional=" + flag(it.transactional);
    for (const auto& [name, value] : it.properties)
        text += " " + name + "=" + (is_secret(name) ? "..." : value);
    return text;
}

}  // namespace shove::kafka_backend
