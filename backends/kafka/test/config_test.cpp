// Which settings are refused, and how settings are shown.

#include <gtest/gtest.h>

#include <string>

#include "check_config.hpp"
#include "names.hpp"
#include "settings.hpp"

namespace shove::kafka_test {

namespace {

using namespace kafka_backend;
using namespace std::chrono_literals;

void expect_refused(const kafka::config& it, std::string_view because) {
    const auto cause = check_config(it);
    EXPECT_EQ(cause, errc::invalid_argument) << because;
    EXPECT_NE(cause.detail.find(because), std::string::npos) << cause.detail;
    EXPECT_EQ(cause.detail.find("secret"), std::string::npos) << cause.detail;
}

kafka::config with_login() {
    kafka::config made;
    made.sasl = kafka::sasl_mechanism::plain;
    made.user = "me";
    made.password = "secret";
    return made;
}

std::string value_of(const owned_conf& conf, const char* name) {
    std::string text(1024, '\0');
    auto size = text.size();
    EXPECT_EQ(rd_kafka_conf_get(conf.get(), name, text.data(), &size), RD_KAFKA_CONF_OK) << name;
    return text.c_str();
}

TEST(config_test, takes_the_defaults) {
    EXPECT_FALSE(check_config({}));
}

TEST(config_test, keeps_credentials_off_the_network) {
    auto it = with_login();
    EXPECT_FALSE(check_config(it)) << "to this machine only";
    it.servers.push_back({"broker.example", 0});
    expect_refused(it, "'broker.example'");
    expect_refused(it, "allow_plaintext_credentials");
    it.allow_plaintext_credentials = true;
    EXPECT_FALSE(check_config(it));
    it.allow_plaintext_credentials = false;
    it.tls = true;
    EXPECT_FALSE(check_config(it));
    it.tls = false;
    it.user = it.password = "";
    it.sasl = kafka::sasl_mechanism::oauthbearer;
    it.get_token = [] { return kafka::token{}; };
    expect_refused(it, "'broker.example'");
}

TEST(config_test, names_options_that_do_not_fit_together) {
    kafka::config it;
    it.password = "secret";
    expect_refused(it, "sasl");
    it = with_login();
    it.user.clear();
    expect_refused(it, "user");
    it = {};
    it.sasl = kafka::sasl_mechanism::oauthbearer;
    expect_refused(it, "get_token");
    it = {};
    it.ca_file = "ca.pem";
    expect_refused(it, "TLS");
    it.tls = true;
    it.ca_pem = "secret";
    expect_refused(it, "ca_file");
    it = {};
    it.tls = true;
    it.certificate_pem = "secret";
    expect_refused(it, "key");
}

TEST(config_test, bounds_its_numbers) {
    kafka::config it;
    it.linger = it.delivery_timeout;
    expect_refused(it, "linger");
    it = {};
    it.session_timeout = 0ms;
    expect_refused(it, "session_timeout");
    it = {};
    it.max_unconfirmed = 0;
    expect_refused(it, "max_unconfirmed");
    it = {};
    it.compression = "rar";
    expect_refused(it, "'rar'");
    it = {};
    it.servers.clear();
    expect_refused(it, "servers");
    it = {};
    it.topic["orders"].replication = 40'000;
    expect_refused(it, "'orders'");
    it = {};
    it.prefix = "a b";
    expect_refused(it, "prefix");
}

TEST(config_test, asks_librdkafka_about_properties) {
    kafka::config it;
    it.properties["socket.keepalive.enable"] = "true";
    EXPECT_FALSE(check_config(it));
    it.properties["socket.keepalive.enabled"] = "true";
    expect_refused(it, "'socket.keepalive.enabled'");
    it.properties = {{"ssl.keystore.password", "secret"}, {"enable.auto.commit", "true"}};
    expect_refused(it, "'enable.auto.commit'");
    it.properties = {{"retries", "secret"}};
    const auto cause = check_config(it);
    EXPECT_NE(cause.detail.find("'retries'"), std::string::npos) << cause.detail;
}

TEST(config_test, shows_settings_without_secrets) {
    auto it = with_login();
    it.properties["ssl.keystore.password"] = "secret";
    it.properties["debug"] = "broker";
    it.key_pem = it.key_password = "secret";
    const auto shown = redacted(it);
    EXPECT_EQ(shown.find("secret"), std::string::npos) << shown;
    EXPECT_NE(shown.find("kafka://localhost:9092"), std::string::npos) << shown;
    EXPECT_NE(shown.find("user=me"), std::string::npos) << shown;
    EXPECT_NE(shown.find("debug=broker"), std::string::npos) << shown;
}

TEST(settings_test, sets_what_its_role_needs) {
    kafka::config it;
    it.servers = {{"one", 1}, {"::1", 0}};
    it.partitioner = kafka::key_partitioner::murmur2;
    const auto producing = make_conf(it, role::producing).value();
    EXPECT_EQ(value_of(producing, "bootstrap.servers"), "one:1,[::1]:9092");
    EXPECT_EQ(value_of(producing, "acks"), "-1");
    EXPECT_EQ(value_of(producing, "enable.idempotence"), "true");
    EXPECT_EQ(value_of(producing, "linger.ms"), "0");
    EXPECT_EQ(value_of(producing, "partitioner"), "murmur2_random");
    EXPECT_EQ(value_of(producing, "allow.auto.create.topics"), "false");
    const auto reading = make_conf(it, role::consuming, {.group_id = "g", .group_instance_id = "i"}).value();
    EXPECT_EQ(value_of(reading, "group.id"), "g");
    EXPECT_EQ(value_of(reading, "group.instance.id"), "i");
    EXPECT_EQ(value_of(reading, "partition.assignment.strategy"), "cooperative-sticky");
    EXPECT_EQ(value_of(reading, "enable.auto.commit"), "false");
    EXPECT_EQ(value_of(reading, "isolation.level"), "read_committed");
}

TEST(names_test, are_those_of_the_reference) {
    const names plain(kafka::config{});
    const auto orders = queue_topology::make(topology("orders").hold(5s).dlq()).value();
    EXPECT_EQ(plain.group_of(*orders), "orders-consumer");
    EXPECT_EQ(plain.dead_group_of(*orders), "orders-dlq-consumer");
    const auto bill = queue_topology::make(topology("orders").dlq().for_consumer_group("bill")).value();
    EXPECT_EQ(plain.group_of(*bill), "orders-bill-consumer");
    EXPECT_EQ(plain.dead_group_of(*bill), "orders-bill-dlq-consumer");
    const auto ordered =
        queue_topology::make(topology("moves").hold(5s).dlq().sequenced(sequence_failure::skip)).value();
    EXPECT_EQ(plain.group_of(*ordered), "moves-fifo");
    kafka::config it;
    it.prefix = "team.";
    it.group_id = "x";
    const names own(it);
    EXPECT_EQ(own.topic_of("orders"), "team.orders");
    EXPECT_EQ(own.group_of(*orders), "team.x");
    EXPECT_EQ(own.group_of(*ordered), "team.x-fifo");
    EXPECT_EQ(own.dead_group_of(*orders), "team.x-dlq");
    EXPECT_EQ(own.queue_of("team.orders"), "orders");
    EXPECT_EQ(own.queue_of("orders"), std::nullopt);
}

TEST(names_test, refuses_what_no_topic_can_be_called) {
    EXPECT_FALSE(check_topic_name("a.B_9-"));
    for (const auto* name : {"", ".", "..", "a b", "a/b", "a:b"})
        EXPECT_EQ(check_topic_name(name), errc::invalid_topology) << name;
    EXPECT_EQ(check_topic_name(std::string(250, 'a')), errc::invalid_topology);
}

}  // namespace

}  // namespace shove::kafka_test
