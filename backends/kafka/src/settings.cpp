#include "settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "check_config.hpp"

namespace shove::kafka_backend {

namespace {

/// What is set by a field of `kafka::config`, or must be as it is.
constexpr std::array<std::string_view, 45> ours{
    "acks",
    "allow.auto.create.topics",
    "auto.offset.reset",
    "background_event_cb",
    "batch.size",
    "bootstrap.servers",
    "builtin.features",
    "client.id",
    "compression.codec",
    "compression.type",
    "enable.auto.commit",
    "enable.auto.offset.store",
    "enable.idempotence",
    "enable.partition.eof",
    "enable.sasl.oauthbearer.unsecure.jwt",
    "enable.ssl.certificate.verification",
    "enabled_events",
    "fetch.wait.max.ms",
    "group.id",
    "group.instance.id",
    "isolation.level",
    "linger.ms",
    "message.timeout.ms",
    "delivery.timeout.ms",
    "metadata.broker.list",
    "opaque",
    "partition.assignment.strategy",
    "partitioner",
    "queue.buffering.max.messages",
    "queue.buffering.max.ms",
    "request.required.acks",
    "sasl.mechanism",
    "sasl.mechanisms",
    "sasl.password",
    "sasl.username",
    "security.protocol",
    "session.timeout.ms",
    "ssl.ca.location",
    "ssl.ca.pem",
    "ssl.certificate.location",
    "ssl.certificate.pem",
    "ssl.endpoint.identification.algorithm",
    "ssl.key.location",
    "ssl.key.password",
    "ssl.key.pem",
};

/// Sets properties one after another until one is refused.
class setter {
public:
    explicit setter(rd_kafka_conf_t* into) : into_(into) {}
    setter& operator()(std::string_view name, const std::string& value) {
        if (!cause) cause = set_property(into_, name, value);
        return *this;
    }
    setter& operator()(std::string_view name, std::chrono::milliseconds value) {
        return (*this)(name, std::to_string(value.count()));
    }
    /// Not, if it is empty.
    setter& given(std::string_view name, const std::string& value) {
        return value.empty() ? *this : (*this)(name, value);
    }
    error cause;

private:
    rd_kafka_conf_t* into_;
};

const char* name_of(kafka::sasl_mechanism how) noexcept {
    switch (how) {
        case kafka::sasl_mechanism::plain:
            return "PLAIN";
        case kafka::sasl_mechanism::scram_sha_256:
            return "SCRAM-SHA-256";
        case kafka::sasl_mechanism::scram_sha_512:
            return "SCRAM-SHA-512";
        case kafka::sasl_mechanism::oauthbearer:
            return "OAUTHBEARER";
        case kafka::sasl_mechanism::none:
            break;
    }
    return "";
}

const char* name_of(kafka::offset_reset where) noexcept {
    if (where == kafka::offset_reset::none) return "error";
    return where == kafka::offset_reset::latest ? "latest" : "earliest";
}

void set_security(setter& set, const kafka::config& it) {
    const bool sasl = it.sasl != kafka::sasl_mechanism::none;
    set("security.protocol", it.tls ? (sasl ? "sasl_ssl" : "ssl") : (sasl ? "sasl_plaintext" : "plaintext"));
    if (sasl) {
        set("sasl.mechanism", name_of(it.sasl));
        if (it.sasl != kafka::sasl_mechanism::oauthbearer) set("sasl.username", it.user)("sasl.password", it.password);
    }
    if (!it.tls) return;
    set.given("ssl.ca.location", it.ca_file.string()).given("ssl.ca.pem", it.ca_pem);
    set.given("ssl.certificate.location", it.certificate_file.string())
        .given("ssl.certificate.pem", it.certificate_pem);
    set.given("ssl.key.location", it.key_file.string()).given("ssl.key.pem", it.key_pem);
    set.given("ssl.key.password", it.key_password);
    set("enable.ssl.certificate.verification", it.verify_peer ? "true" : "false");
    set("ssl.endpoint.identification.algorithm", it.verify_peer && it.verify_host ? "https" : "none");
}

void set_producing(setter& set, const kafka::config& it, const client_options& options) {
    set("acks", "all")("enable.idempotence", "true")("allow.auto.create.topics", "false");
    set("message.timeout.ms", it.delivery_timeout)("linger.ms", it.linger);
    set("batch.size", std::to_string(it.batch_bytes));
    set("queue.buffering.max.messages", std::to_string(it.max_unconfirmed));
    set("partitioner", it.partitioner == kafka::key_partitioner::murmur2 ? "murmur2_random" : "consistent_random");
    // A topic that is not there is told soon, and one that was made a moment ago is still found.
    set("topic.metadata.propagation.max.ms", "3000");
    set.given("compression.type", it.compression).given("transactional.id", options.transactional_id);
}

void set_reading(setter& set, const kafka::config& it, const client_options& options) {
    set("enable.auto.commit", "false")("enable.auto.offset.store", "false")("allow.auto.create.topics", "false");
    set("auto.offset.reset", name_of(it.reset))("fetch.wait.max.ms", it.fetch_wait);
    set("isolation.level", "read_committed");
    // Topics that are made later are seen soon.
    set("topic.metadata.refresh.interval.ms", "5000")("topic.metadata.refresh.fast.interval.ms", "50");
    set("topic.metadata.propagation.max.ms", "3000")("fetch.error.backoff.ms", "20");
    set("queued.max.messages.kbytes", "16384");
    // librdkafka assigns nothing to a client that names no group. This one is never joined, and nothing is committed
    // for it.
    set("group.id", options.group_id.empty() ? it.prefix + "shove-no-group" : options.group_id);
    set.given("group.instance.id", options.group_instance_id);
    set("enable.partition.eof", options.tells_end ? "true" : "false");
    set("partition.assignment.strategy", "cooperative-sticky")("session.timeout.ms", it.session_timeout);
    set("heartbeat.interval.ms", std::min(it.session_timeout / 4, std::chrono::milliseconds(1'000)));
}

int events_of(role what) noexcept {
    if (what == role::producing) return RD_KAFKA_EVENT_DR | RD_KAFKA_EVENT_ERROR;
    if (what == role::consuming)
        return RD_KAFKA_EVENT_REBALANCE | RD_KAFKA_EVENT_OFFSET_COMMIT | RD_KAFKA_EVENT_ERROR | RD_KAFKA_EVENT_FETCH;
    return RD_KAFKA_EVENT_ERROR;
}

}  // namespace

error set_property(rd_kafka_conf_t* into, std::string_view name, const std::string& value) {
    std::array<char, 512> text{};
    const std::string key(name);
    const auto answer = rd_kafka_conf_set(into, key.c_str(), value.c_str(), text.data(), text.size());
    if (answer == RD_KAFKA_CONF_OK) return {};
    std::string why = "Kafka settings: ";
    if (answer == RD_KAFKA_CONF_UNKNOWN) {
        why += "'" + key + "' is neither an option of this backend nor a property of librdkafka " +
               rd_kafka_version_str() + "; look its spelling up in librdkafka's CONFIGURATION.md";
    } else {
        // librdkafka's own words may repeat the value.
        why += "librdkafka does not take that value of '" + key + "'" + (is_secret(name) ? "" : ": ");
        if (!is_secret(name)) why += text.data();
    }
    return {errc::invalid_argument, std::move(why)};
}

bool is_ours(std::string_view property) noexcept {
    return std::ranges::find(ours, property) != ours.end() || property.ends_with("_cb");
}

bool is_secret(std::string_view property) noexcept {
    return property.find("password") != property.npos || property.find("secret") != property.npos ||
           property.ends_with(".pem") || property == "sasl.oauthbearer.config";
}

result<owned_conf> make_conf(const kafka::config& settings, role what, const client_options& options) {
    owned_conf made(rd_kafka_conf_new());
    rd_kafka_conf_set_log_cb(made.get(), nullptr);
    setter set(made.get());
    set("bootstrap.servers", servers_text(settings));
    set("reconnect.backoff.ms", "50")("reconnect.backoff.max.ms", "2000")("socket.nagle.disable", "true");
    set("client.id", settings.client_id.empty() ? "shove-cpp-" + std::to_string(::getpid()) : settings.client_id);
    set_security(set, settings);
    if (what == role::producing) {
        set_producing(set, settings, options);
    } else {
        set_reading(set, settings, options);
    }
    for (const auto& [name, value] : settings.properties)
        set(name, value);
    if (set.cause) return set.cause;
    rd_kafka_conf_set_events(made.get(), events_of(what));
    return made;
}

}  // namespace shove::kafka_backend
