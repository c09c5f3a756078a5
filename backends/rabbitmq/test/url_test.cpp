// What a URL means.

#include <shove/rabbitmq.hpp>

#include <gtest/gtest.h>

#include <string>

namespace shove::rabbitmq_test {

namespace {

using namespace std::chrono_literals;

rabbitmq::config parsed(std::string_view url) {
    return rabbitmq::parse(url).value();
}

std::string wrong(std::string_view url) {
    const auto made = rabbitmq::parse(url);
    if (made) return {};
    EXPECT_EQ(made.error(), errc::invalid_argument);
    return made.error().message();
}

TEST(url_test, leaves_out_what_has_a_default) {
    for (const auto* url : {"amqp://", "amqp://localhost", "amqp://localhost/", "AMQP://localhost:5672?"}) {
        const auto made = parsed(url);
        EXPECT_EQ(made.servers.size(), 1u);
        EXPECT_EQ(made.servers[0].host, "localhost");
        EXPECT_EQ(made.virtual_host, "/");
        EXPECT_EQ(made.user, "guest");
        EXPECT_EQ(made.password, "guest");
        EXPECT_FALSE(made.tls);
        EXPECT_EQ(made.queues, rabbitmq::queue_type::quorum);
    }
}

TEST(url_test, reads_credentials_servers_and_virtual_host) {
    const auto made = parsed("amqps://some%40user:p%3A%2F%3F%40:x@one:1,[fe80::1]:65535,[::1],three/a%2fb%20c");
    EXPECT_TRUE(made.tls);
    EXPECT_EQ(made.user, "some@user");
    EXPECT_EQ(made.password, "p:/?@:x");
    ASSERT_EQ(made.servers.size(), 4u);
    EXPECT_EQ(made.servers[0].host, "one");
    EXPECT_EQ(made.servers[0].port, 1);
    EXPECT_EQ(made.servers[1].host, "fe80::1");
    EXPECT_EQ(made.servers[1].port, 65'535);
    EXPECT_EQ(made.servers[2].host, "::1");
    EXPECT_EQ(made.servers[2].port, 0);
    EXPECT_EQ(made.servers[3].host, "three");
    EXPECT_EQ(made.virtual_host, "a/b c");
    EXPECT_EQ(parsed("amqp://localhost/%2F").virtual_host, "/");
    EXPECT_EQ(parsed("amqp://u@localhost").password, "");
}

TEST(url_test, reads_its_options) {
    const auto made = parsed(
        "amqps://u:p@h/"
        "?queues=classic&heartbeat=7&frame_max=4096&channel_max=99&connect_timeout=3s&connection_name=a%20b&"
        "ca_file=%2Fca.pem&certificate_file=c.pem&key_file=k.pem&verify=verify_none&allow_plaintext_credentials=true&"
        "management=https%3A%2F%2Fh%3A15671&management_user=mu&management_password=m%26p&consumers_per_connection=5&"
        "max_unconfirmed=6&transactional=true&consumer_timeout=2m&allow_resharding=true");
    EXPECT_EQ(made.queues, rabbitmq::queue_type::classic);
    EXPECT_EQ(made.heartbeat, 7s);
    EXPECT_EQ(made.frame_max, 4096u);
    EXPECT_EQ(made.channel_max, 99u);
    EXPECT_EQ(made.connect_timeout, 3s);
    EXPECT_EQ(made.connection_name, "a b");
    EXPECT_EQ(made.ca_file, "/ca.pem");
    EXPECT_EQ(made.certificate_file, "c.pem");
    EXPECT_EQ(made.key_file, "k.pem");
    EXPECT_FALSE(made.verify_peer);
    EXPECT_TRUE(made.allow_plaintext_credentials);
    EXPECT_EQ(made.management, "https://h:15671");
    EXPECT_EQ(made.management_user, "mu");
    EXPECT_EQ(made.management_password, "m&p");
    EXPECT_EQ(made.consumers_per_connection, 5u);
    EXPECT_EQ(made.max_unconfirmed, 6u);
    EXPECT_TRUE(made.transactional);
    EXPECT_EQ(made.consumer_timeout, 2min);
    EXPECT_TRUE(made.allow_resharding);
}

TEST(url_test, reads_the_names_of_other_clients) {
    const auto made = parsed(
        "amqps://"
        "h?cacertfile=a&certfile=b&keyfile=c&connection_timeout=250&heartbeat=0&exactly_once=1&verify_peer=0");
    EXPECT_EQ(made.ca_file, "a");
    EXPECT_EQ(made.certificate_file, "b");
    EXPECT_EQ(made.key_file, "c");
    EXPECT_EQ(made.connect_timeout, 250ms);
    EXPECT_EQ(made.heartbeat, 0s);
    EXPECT_TRUE(made.transactional);
    EXPECT_FALSE(made.verify_peer);
    EXPECT_EQ(parsed("amqp://localhost?heartbeat=2m&connect_timeout=500ms").heartbeat, 120s);
}

TEST(url_test, names_option_value_and_remedy) {
    EXPECT_NE(wrong("amqp://localhost?queus=classic").find("'queus'"), std::string::npos);
    EXPECT_NE(wrong("amqp://localhost?queus=classic").find("queues, heartbeat"), std::string::npos);
    EXPECT_NE(wrong("amqp://localhost?queues=stream").find("'queues' cannot be 'stream'; give quorum"),
              std::string::npos);
    EXPECT_NE(wrong("amqp://localhost?heartbeat=1500ms").find("'1500ms'"), std::string::npos);
    EXPECT_NE(wrong("amqp://localhost?frame_max=4095").find("4095; give 4096"), std::string::npos);
    EXPECT_NE(wrong("amqp://localhost?channel_max=70000").find("'70000'"), std::string::npos);
    EXPECT_NE(wrong("amqps://a,b:0").find("server 2"), std::string::npos);
}

TEST(url_test, refuses_what_it_cannot_read) {
    for (const auto* url : {"",
                            "amqp:",
                            "amqp:localhost",
                            "http://localhost",
                            "amqp://localhost#x",
                            "amqp://localhost/a/b",
                            "amqp://localhost/%zz",
                            "amqp://localhost/%00",
                            "amqp://localhost:",
                            "amqp://localhost:0",
                            "amqp://localhost:65536",
                            "amqp://localhost:5672x",
                            "amqp://[::1",
                            "amqp://[::1]x",
                            "amqp://::1",
                            "amqp://[]",
                            "amqp://localhost,",
                            "amqp://,localhost",
                            "amqp://u:%z@localhost",
                            "amqp://%0@localhost",
                            "amqp://:@localhost",
                            "amqp://localhost?&",
                            "amqp://localhost?heartbeat",
                            "amqp://localhost?heartbeat=-1",
                            "amqp://localhost?heartbeat=65536",
                            "amqp://localhost?connect_timeout=0",
                            "amqp://localhost?connect_timeout=99999999999999999999s",
                            "amqp://localhost?connection_name=%4",
                            "amqp://localhost?transactional=yes",
                            "amqp://localhost?verify=maybe",
                            "amqp://local%20host",
                            "amqp://localhost?management=ftp%3A%2F%2Fx",
                            "amqp://localhost?management=http%3A%2F%2F",
                            "amqp://localhost?management=http%3A%2F%2Flocalhost%3A0",
                            "amqp://localhost?management_user=a",
                            "amqp://localhost?ca_file=x",
                            "amqps://localhost?certfile=x",
                            "amqp://localhost?max_unconfirmed=0",
                            "amqp://localhost?consumers_per_connection=0",
                            "amqp://localhost?channel_max=0"}) {
        EXPECT_NE(wrong(url), "") << url;
    }
}

TEST(url_test, never_shows_a_password) {
    // Each holds "secret" where a password is, or where one is after a slip of the pen.
    for (const auto* url : {
             "amqp://user:secret@remote",
             "amqp://user:secret@remote/%zz",
             "amqp://user:secret@localhost:x",
             "amqp://user:%secret@localhost",
             "amqp://user:secret/more@localhost",
             "amqp://user:12/secret@localhost",
             "amqp://user:12?secret@localhost",
             "amqp://user:12?x=secret@localhost",
             "amqp://user:12#secret@localhost",
             "amqp://user:secret",
             "amqp://user:secret,localhost",
             "user:secret@localhost",
             "amqp:user:secret@localhost",
             "amqp://localhost?management_password=secret",
             "amqp://localhost?management=http%3A%2F%2Fuser%3Asecret%40localhost",
             "amqp://localhost?management=http%3A%2F%2Fuser%3Asecret",
             "amqp://localhost?management=http%3A%2F%2Fuser%3Asecret%2F%40localhost",
             "amqp://localhost?management=http://user:secret@localhost",
             "amqp://localhost?management=http%3A%2F%2Fremote&management_user=a&management_password=secret",
             "amqp://localhost?management_password=%secret",
         }) {
        const auto text = wrong(url);
        EXPECT_NE(text, "") << url;
        EXPECT_EQ(text.find("secret"), std::string::npos) << url << ": " << text;
    }
}

}  // namespace

}  // namespace shove::rabbitmq_test
