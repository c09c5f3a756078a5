// What a URL means.

#include <shove/kafka.hpp>

#include <gtest/gtest.h>

#include <string>

namespace shove::kafka_test {

namespace {

using namespace std::chrono_literals;

kafka::config parsed(std::string_view url) {
    return kafka::parse(url).value();
}

std::string wrong(std::string_view url) {
    const auto made = kafka::parse(url);
    if (made) return {};
    EXPECT_EQ(made.error(), errc::invalid_argument);
    return made.error().message();
}

TEST(url_test, leaves_out_what_has_a_default) {
    for (const auto* url : {"kafka://", "kafka://localhost", "KAFKA://localhost/?"}) {
        const auto made = parsed(url);
        ASSERT_EQ(made.servers.size(), 1u);
        EXPECT_EQ(made.servers[0].host, "localhost");
        EXPECT_EQ(made.servers[0].port, 0);
        EXPECT_FALSE(made.tls);
        EXPECT_EQ(made.sasl, kafka::sasl_mechanism::none);
        EXPECT_EQ(made.linger, 0ms);
    }
}

TEST(url_test, reads_login_and_servers) {
    const auto made = parsed("kafkas://some%40one:p%3A%2F@one:1,[fe80::1]:65535,two");
    EXPECT_TRUE(made.tls);
    EXPECT_EQ(made.sasl, kafka::sasl_mechanism::plain);
    EXPECT_EQ(made.user, "some@one");
    EXPECT_EQ(made.password, "p:/");
    ASSERT_EQ(made.servers.size(), 3u);
    EXPECT_EQ(made.servers[1].host, "fe80::1");
    EXPECT_EQ(made.servers[1].port, 65'535);
    EXPECT_EQ(made.servers[2].host, "two");
}

TEST(url_test, reads_its_options) {
    const auto made = parsed(
        "kafka://"
        "u:p@localhost?sasl=scram-sha-512&partitions=12&replication=3&topic.retention.ms=60000&partitioner=murmur2&"
        "compression=lz4&linger=5&delivery_timeout=20s&group_id=mine&group_instance_id=one&reset=latest&session_"
        "timeout=6s&"
        "commit_interval=1s&commit_count=7&exactly_once=true&prefix=team.&socket.keepalive.enable=true&debug=broker");
    EXPECT_EQ(made.sasl, kafka::sasl_mechanism::scram_sha_512);
    EXPECT_EQ(made.topics.partitions, 12u);
    EXPECT_EQ(made.topics.replication, 3u);
    EXPECT_EQ(made.topics.entries.at("retention.ms"), "60000");
    EXPECT_EQ(made.partitioner, kafka::key_partitioner::murmur2);
    EXPECT_EQ(made.compression, "lz4");
    EXPECT_EQ(made.linger, 5ms);
    EXPECT_EQ(made.delivery_timeout, 20s);
    EXPECT_EQ(made.group_id, "mine");
    EXPECT_EQ(made.group_instance_id, "one");
    EXPECT_EQ(made.reset, kafka::offset_reset::latest);
    EXPECT_EQ(made.session_timeout, 6s);
    EXPECT_EQ(made.commit_interval, 1s);
    EXPECT_EQ(made.commit_count, 7u);
    EXPECT_TRUE(made.transactional);
    EXPECT_EQ(made.prefix, "team.");
    EXPECT_EQ(made.properties.at("socket.keepalive.enable"), "true");
    EXPECT_EQ(made.properties.at("debug"), "broker");
}

TEST(url_test, names_what_is_wrong) {
    EXPECT_NE(wrong("localhost:9092").find("kafka://"), std::string::npos);
    EXPECT_NE(wrong("amqp://localhost").find("kafkas://"), std::string::npos);
    EXPECT_NE(wrong("kafka://localhost/orders").find("queues are topics"), std::string::npos);
    EXPECT_NE(wrong("kafka://localhost:0").find("port"), std::string::npos);
    EXPECT_NE(wrong("kafka://localhost?lingr=5").find("'lingr'"), std::string::npos);
    EXPECT_NE(wrong("kafka://localhost?linger=soon").find("'linger'"), std::string::npos);
    EXPECT_NE(wrong("kafka://localhost?linger.ms=5").find("'linger.ms'"), std::string::npos) << "ours";
    EXPECT_NE(wrong("kafka://localhost?socket.keepalive.enable=maybe").find("'socket.keepalive.enable'"),
              std::string::npos);
    EXPECT_NE(wrong("kafka://localhost?sasl=gssapi").find("'sasl'"), std::string::npos);
}

TEST(url_test, shows_no_secret) {
    for (const auto* url :
         {"kafka://u:hush@broker.example", "kafka://u:hu#sh@h", "kafka://u:hu%s@h", "kafka://u:hush/@h",
          "kafkas://h?key_password=hush", "kafka://u:hush@h:x", "kafka://h?ssl.keystore.password=hush&x=1"}) {
        const auto said = wrong(url);
        EXPECT_FALSE(said.empty()) << url;
        EXPECT_EQ(said.find("hush"), std::string::npos) << said;
        EXPECT_EQ(said.find("hu"), std::string::npos) << said;
    }
}

}  // namespace

}  // namespace shove::kafka_test
