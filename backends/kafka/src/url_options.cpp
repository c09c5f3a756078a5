#include "url_options.hpp"

#include <shove/spi/url_options.hpp>

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

namespace shove::kafka_backend {

namespace {

using config = kafka::config;

/// One of several words.
template <auto Member, class Value, std::size_t N>
bool set_word(config& into, const std::string& value, const std::array<std::pair<std::string_view, Value>, N>& words) {
    const auto found = std::ranges::find(words, value, &std::pair<std::string_view, Value>::first);
    if (found == words.end()) return false;
    into.*Member = found->second;
    return true;
}

std::string_view set_sasl(config& into, const std::string& value) {
    using enum kafka::sasl_mechanism;
    constexpr std::array<std::pair<std::string_view, kafka::sasl_mechanism>, 4> words{
        {{"none", none}, {"plain", plain}, {"scram-sha-256", scram_sha_256}, {"scram-sha-512", scram_sha_512}}};
    if (!set_word<&config::sasl>(into, value, words))
        return "none, plain, scram-sha-256 or scram-sha-512; tokens are set in code";
    return {};
}

std::string_view set_partitioner(config& into, const std::string& value) {
    using enum kafka::key_partitioner;
    constexpr std::array<std::pair<std::string_view, kafka::key_partitioner>, 2> words{
        {{"crc32", crc32}, {"murmur2", murmur2}}};
    return set_word<&config::partitioner>(into, value, words) ? std::string_view() : "crc32 or murmur2";
}

std::string_view set_reset(config& into, const std::string& value) {
    using enum kafka::offset_reset;
    constexpr std::array<std::pair<std::string_view, kafka::offset_reset>, 3> words{
        {{"earliest", earliest}, {"latest", latest}, {"none", none}}};
    return set_word<&config::reset>(into, value, words) ? std::string_view() : "earliest, latest or none";
}

template <auto Member>
std::string_view set_of_topics(config& into, const std::string& value) {
    return spi::set_count<kafka::topic_settings, Member>(into.topics, value);
}

template <auto Member>
constexpr auto text = spi::set_text<config, Member>;
template <auto Member>
constexpr auto flag = spi::set_flag<config, Member>;
template <auto Member>
constexpr auto count = spi::set_count<config, Member>;
template <auto Member>
constexpr auto time = spi::set_duration<config, Member>;

constexpr spi::url_option<config> options[] = {
    {"ca_file", text<&config::ca_file>},
    {"certificate_file", text<&config::certificate_file>},
    {"key_file", text<&config::key_file>},
    {"ca_pem", text<&config::ca_pem>, true},
    {"certificate_pem", text<&config::certificate_pem>, true},
    {"key_pem", text<&config::key_pem>, true},
    {"key_password", text<&config::key_password>, true},
    {"verify_peer", flag<&config::verify_peer>},
    {"verify_host", flag<&config::verify_host>},
    {"sasl", set_sasl},
    {"allow_plaintext_credentials", flag<&config::allow_plaintext_credentials>},
    {"client_id", text<&config::client_id>},
    {"prefix", text<&config::prefix>},
    {"partitions", set_of_topics<&kafka::topic_settings::partitions>},
    {"replication", set_of_topics<&kafka::topic_settings::replication>},
    {"allow_repartitioning", flag<&config::allow_repartitioning>},
    {"partitioner", set_partitioner},
    {"compression", text<&config::compression>},
    {"linger", time<&config::linger>},
    {"batch_bytes", count<&config::batch_bytes>},
    {"max_unconfirmed", count<&config::max_unconfirmed>},
    {"delivery_timeout", time<&config::delivery_timeout>},
    {"group_id", text<&config::group_id>},
    {"group_instance_id", text<&config::group_instance_id>},
    {"reset", set_reset},
    {"session_timeout", time<&config::session_timeout>},
    {"commit_interval", time<&config::commit_interval>},
    {"commit_count", count<&config::commit_count>},
    {"fetch_wait", time<&config::fetch_wait>},
    {"transactional", flag<&config::transactional>},
    {"exactly_once", flag<&config::transactional>},
    {"connect_timeout", time<&config::connect_timeout>},
};

}  // namespace

error set_options(kafka::config& into, std::string_view query) {
    constexpr std::string_view of_topics = "topic.";
    const auto other = [&](const std::string& name, std::string value) -> error {
        const bool entry = name.starts_with(of_topics);
        auto& where = entry ? into.topics.entries : into.properties;
        where.insert_or_assign(entry ? name.substr(of_topics.size()) : name, std::move(value));
        return {};
    };
    return spi::read_url_options(into, query, std::span<const spi::url_option<config>>(options), "Kafka URL: ", other);
}

}  // namespace shove::kafka_backend
