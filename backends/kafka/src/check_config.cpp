#include "check_config.hpp"

#include <shove/spi/server_url.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "names.hpp"
#include "settings.hpp"

namespace shove::kafka_backend {

namespace {

using namespace std::chrono_literals;

error wrong(std::string text) {
    return {errc::invalid_argument, "Kafka settings: " + std::move(text)};
}

error check_range(std::string_view name, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
    if (value >= least && value <= most) return {};
    return wrong(std::string(name) + " cannot be " + std::to_string(value) + "; give " + std::to_string(least) +
                 " to " + std::to_string(most));
}

error check_time(std::string_view name, std::chrono::milliseconds value, std::chrono::milliseconds least,
                 std::chrono::milliseconds most) {
    if (value >= least && value <= most) return {};
    return wrong(std::string(name) + " cannot be " + std::to_string(value.count()) + "ms; give " +
                 std::to_string(least.count()) + "ms to " + std::to_string(most.count()) + "ms");
}

error check_servers(const kafka::config& it) {
    if (it.servers.empty()) return wrong("servers must not be empty; give at least one host");
    for (std::size_t i = 0; i < it.servers.size(); ++i) {
        // librdkafka's list has commas between.
        const auto& host = it.servers[i].host;
        if (spi::plausible_host(host) && host.find(',') == host.npos) continue;
        return wrong("server " + std::to_string(i + 1) +
                     " is no host name or address of 1 to 255 printable characters");
    }
    return {};
}

error check_one_source(std::string_view name, const std::filesystem::path& file, const std::string& pem) {
    if (file.empty() || pem.empty()) return {};
    return wrong(std::string(name) + "_file and " + std::string(name) + "_pem exclude each other; give one of them");
}

error check_tls(const kafka::config& it) {
    if (auto cause = check_one_source("ca", it.ca_file, it.ca_pem)) return cause;
    if (auto cause = check_one_source("certificate", it.certificate_file, it.certificate_pem)) return cause;
    if (auto cause = check_one_source("key", it.key_file, it.key_pem)) return cause;
    const bool certificate = !it.certificate_file.empty() || !it.certificate_pem.empty();
    const bool key = !it.key_file.empty() || !it.key_pem.empty();
    if (certificate != key) return wrong("a certificate and its key belong together; give both or none");
    if (!key && !it.key_password.empty()) return wrong("key_password needs key_file or key_pem");
    const bool given = certificate || !it.ca_file.empty() || !it.ca_pem.empty();
    if (given && !it.tls) return wrong("certificates and keys need TLS; use kafkas:// or set tls, or leave them out");
    return {};
}

error check_login(const kafka::config& it) {
    const bool named = !it.user.empty() || !it.password.empty();
    switch (it.sasl) {
        case kafka::sasl_mechanism::none:
            if (named) return wrong("user and password need sasl: plain, scram-sha-256 or scram-sha-512");
            if (it.get_token) return wrong("get_token needs sasl: oauthbearer");
            return {};
        case kafka::sasl_mechanism::oauthbearer:
            if (!it.get_token) return wrong("sasl oauthbearer needs get_token, the source of tokens, set in code");
            if (named) return wrong("sasl oauthbearer takes no user and password; its tokens say who it is");
            return {};
        default:
            if (it.user.empty()) return wrong("sasl needs user and password");
            if (it.get_token) return wrong("get_token needs sasl: oauthbearer");
            return {};
    }
}

error check_plaintext(const kafka::config& it) {
    if (it.sasl == kafka::sasl_mechanism::none || it.tls || it.allow_plaintext_credentials) return {};
    const auto remote = std::ranges::find_if(it.servers, [](const auto& s) { return !spi::is_loopback(s.host); });
    if (remote == it.servers.end()) return {};
    return wrong("what proves this client's identity would go to '" + remote->host +
                 "' unencrypted; use kafkas:// or, where the network is trusted, allow_plaintext_credentials=true");
}

error check_producing(const kafka::config& it) {
    if (auto cause = check_time("delivery_timeout", it.delivery_timeout, 100ms, 1h)) return cause;
    if (it.linger < 0ms || it.linger >= it.delivery_timeout)
        return wrong("linger cannot be " + std::to_string(it.linger.count()) +
                     "ms; give 0 or more, and less than delivery_timeout, which is " +
                     std::to_string(it.delivery_timeout.count()) + "ms");
    if (auto cause = check_range("batch_bytes", it.batch_bytes, 1, 2'147'483'647)) return cause;
    if (auto cause = check_range("max_unconfirmed", it.max_unconfirmed, 1, 10'000'000)) return cause;
    constexpr std::array<std::string_view, 6> known{"", "none", "gzip", "snappy", "lz4", "zstd"};
    if (std::ranges::find(known, it.compression) == known.end())
        return wrong("compression cannot be '" + it.compression + "'; give none, gzip, snappy, lz4 or zstd");
    return {};
}

error check_reading(const kafka::config& it) {
    if (auto cause = check_time("session_timeout", it.session_timeout, 1s, 1h)) return cause;
    if (auto cause = check_time("commit_interval", it.commit_interval, 1ms, 1h)) return cause;
    if (auto cause = check_range("commit_count", it.commit_count, 1, 1'000'000)) return cause;
    if (auto cause = check_time("fetch_wait", it.fetch_wait, 0ms, 5min)) return cause;
    return check_time("connect_timeout", it.connect_timeout, 1ms, 1h);
}

error check_topic(const std::string& name, const kafka::topic_settings& it) {
    const auto of = name.empty() ? std::string("topics") : "topic '" + name + "'";
    if (it.partitions > 100'000)
        return wrong(of + ": partitions cannot be " + std::to_string(it.partitions) + "; give 1 to 100000, or 0");
    if (it.replication > 32'767)
        return wrong(of + ": replication cannot be " + std::to_string(it.replication) + "; give 1 to 32767, or 0");
    for (const auto& [key, value] : it.entries) {
        if (key.find_first_not_of(" \t") == key.npos) return wrong(of + ": an entry has no name");
    }
    return {};
}

error check_topics(const kafka::config& it) {
    if (!it.prefix.empty() && (check_topic_name(it.prefix) || it.prefix.size() > 100))
        return wrong("prefix cannot be '" + it.prefix + "'; use at most 100 letters, digits, '.', '_' and '-'");
    if (auto cause = check_topic({}, it.topics)) return cause;
    for (const auto& [name, settings] : it.topic) {
        if (name.empty()) return wrong("a topic has no name");
        if (auto cause = check_topic(name, settings)) return cause;
    }
    return {};
}

error check_properties(const kafka::config& it) {
    const owned_conf scratch(rd_kafka_conf_new());
    for (const auto& [name, value] : it.properties) {
        if (is_ours(name))
            return wrong("librdkafka's property '" + name +
                         "' is set by this backend; use the option for it, see shove/kafka.hpp");
        if (auto cause = set_property(scratch.get(), name, value)) return cause;
    }
    return {};
}

}  // namespace

error check_config(const kafka::config& settings) {
    for (const auto check : {check_servers, check_tls, check_login, check_plaintext, check_producing, check_reading,
                             check_topics, check_properties}) {
        if (auto cause = check(settings)) return cause;
    }
    // Certificates, keys and what depends on each other: librdkafka looks at these.
    const auto conf = make_conf(settings, role::asking);
    return conf ? error() : conf.error();
}

std::string servers_text(const kafka::config& settings) {
    std::string text;
    for (const auto& [host, port] : settings.servers)
        text.append(text.empty() ? "" : ",").append(spi::address_text(host, port != 0 ? port : 9092));
    return text;
}

}  // namespace shove::kafka_backend
