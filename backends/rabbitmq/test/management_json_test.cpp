// What the answers of the management API mean.

#include "management_json.hpp"

#include <gtest/gtest.h>

namespace shove::rabbitmq_test {

namespace {

using namespace rabbitmq_backend;

TEST(management_json_test, reads_a_queue) {
    const auto read = read_queue(R"({"arguments":{"x-dead-letter-exchange":"","x-message-ttl":60000,"x-queue-type":
        "quorum","x-single-active-consumer":true,"list":[1,"a"]},"consumers":2,"durable":true,"head_message_timestamp":
        1700000000,"messages_ready":3,"messages_unacknowledged":4,"name":"a/b é","state":"running","type":"quorum"})")
                          .value();
    EXPECT_EQ(read.name, "a/b é");
    EXPECT_EQ(read.ready, 3u);
    EXPECT_EQ(read.unacknowledged, 4u);
    EXPECT_EQ(read.consumers, 2u);
    EXPECT_EQ(read.type, "quorum");
    EXPECT_TRUE(read.durable);
    EXPECT_EQ(read.state, "running");
    EXPECT_EQ(read.head_published, wall_time(std::chrono::seconds(1'700'000'000)));
    const argument_list expected{{"x-dead-letter-exchange", ""},
                                 {"x-message-ttl", "60000"},
                                 {"x-queue-type", "quorum"},
                                 {"x-single-active-consumer", "true"},
                                 {"list", R"([1,"a"])"}};
    EXPECT_EQ(read.arguments, expected);
}

TEST(management_json_test, what_the_broker_has_not_noted_yet_is_zero) {
    for (const auto* body :
         {R"({"name":"q","arguments":{},"durable":true,"type":"classic"})",
          R"({"name":"q","arguments":[],"consumers":null,"head_message_timestamp":null,"messages_ready":null,
              "messages_unacknowledged":null,"state":null,"type":null,"durable":true})",
          R"({"name":"q","messages_ready":-1,"durable":true,"head_message_timestamp":0})"}) {
        const auto read = read_queue(body).value();
        EXPECT_EQ(read.ready + read.unacknowledged + read.consumers, 0u);
        EXPECT_EQ(read.head_published, std::nullopt);
        EXPECT_EQ(read.state, "");
        EXPECT_EQ(read.type, "classic");
        EXPECT_TRUE(read.durable);
    }
}

TEST(management_json_test, a_time_out_of_range_is_none) {
    for (const auto* stamp : {"253402300800", "18446744073709551615", "-5"}) {
        const auto read = read_queue(R"({"name":"q","head_message_timestamp":)" + std::string(stamp) + "}");
        EXPECT_EQ(read.value().head_published, std::nullopt) << stamp;
    }
    EXPECT_TRUE(read_queue(R"({"name":"q","head_message_timestamp":253402300799})").value().head_published);
}

TEST(management_json_test, names_the_place_of_a_fault_but_not_the_text) {
    const auto fault = [](const auto& read) {
        EXPECT_FALSE(read);
        EXPECT_EQ(read.error(), errc::decode_failed);
        EXPECT_EQ(read.error().message().find("hunter2"), std::string::npos);
        return read.error().message();
    };
    const auto has = [](const std::string& text, std::string_view part) { return text.find(part) != text.npos; };
    EXPECT_TRUE(has(fault(read_queue("<html>hunter2</html>")), "not JSON"));
    EXPECT_TRUE(has(fault(read_queue("")), "not JSON"));
    EXPECT_TRUE(has(fault(read_queue(R"({"name":"q")")), "not JSON"));
    EXPECT_TRUE(has(fault(read_queue(std::string(100, '['))), "not JSON"));
    EXPECT_TRUE(has(fault(read_queue("[]")), "it is not an object"));
    EXPECT_TRUE(has(fault(read_queue("{}")), "/name is missing"));
    EXPECT_TRUE(has(fault(read_queue(R"({"name":7})")), "/name is not a text"));
    EXPECT_TRUE(has(fault(read_queue(R"({"name":"q","messages_ready":"hunter2"})")), "/messages_ready"));
    EXPECT_TRUE(has(fault(read_queue(R"({"name":"q","consumers":1.5})")), "/consumers is not a whole number"));
    EXPECT_TRUE(has(fault(read_queue(R"({"name":"q","durable":1})")), "/durable"));
    EXPECT_TRUE(has(fault(read_queue(R"({"name":"q","arguments":"hunter2"})")), "/arguments"));
    EXPECT_TRUE(has(fault(read_queue_page(R"({"items":[{"name":"a"},{"nme":"b"}]})")), "/items/1/name is missing"));
    EXPECT_TRUE(has(fault(read_queue_page(R"({"page_count":1})")), "/items is not a list"));
    EXPECT_TRUE(has(fault(read_queue_page("[]")), "it is not an object"));
    EXPECT_TRUE(has(fault(read_bindings("{}")), "it is not a list"));
    EXPECT_TRUE(has(fault(read_bindings("[{},1]")), "/0/destination is missing"));
    EXPECT_TRUE(has(fault(read_facts("{}")), "/rabbitmq_version is missing"));
}

TEST(management_json_test, reads_a_page) {
    const auto read =
        read_queue_page(R"({"page_count":3,"page":1,"items":[{"name":"a"},{"name":"b","type":"stream"}]})");
    EXPECT_EQ(read->pages, 3u);
    ASSERT_EQ(read->queues.size(), 2u);
    EXPECT_EQ(read->queues[1].type, "stream");
    EXPECT_TRUE(read_queue_page(R"({"page_count":0,"items":[]})").value().queues.empty());
}

TEST(management_json_test, reads_bindings) {
    const auto read = read_bindings(R"([{"destination":"q","destination_type":"queue","routing_key":"1",
        "arguments":{"x":1}},{"destination":"e","destination_type":"exchange","routing_key":"","arguments":{}}])")
                          .value();
    ASSERT_EQ(read.size(), 2u);
    EXPECT_EQ(read[0].destination, "q");
    EXPECT_EQ(read[0].routing_key, "1");
    EXPECT_EQ(read[0].arguments, (argument_list{{"x", "1"}}));
    EXPECT_EQ(read[1].destination_type, "exchange");
}

TEST(management_json_test, reads_facts) {
    const auto read = read_facts(R"({"rabbitmq_version":"3.10.8","erlang_version":"25.2.3","cluster_name":"rabbit@a",
        "node":"rabbit@b","disable_stats":true})")
                          .value();
    EXPECT_EQ(read.rabbitmq_version, "3.10.8");
    EXPECT_EQ(read.erlang_version, "25.2.3");
    EXPECT_EQ(read.cluster_name, "rabbit@a");
    EXPECT_EQ(read.node, "rabbit@b");
    EXPECT_TRUE(read.statistics_disabled);
    EXPECT_FALSE(read_facts(R"({"rabbitmq_version":"3.7.1"})").value().statistics_disabled);
}

}  // namespace

}  // namespace shove::rabbitmq_test
