// What a real cluster answers: topics, their configuration, offsets, groups; who may connect.

#include "kafka_server.hpp"

#include <shove/kafka.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "cluster.hpp"

namespace shove::kafka_test {

namespace {

using namespace kafka_backend;
using namespace std::chrono_literals;

class cluster_test : public testing::Test {
protected:
    kafka_server server;
    own_topics mine{server};
    std::shared_ptr<loop> on = std::make_shared<loop>();
    std::shared_ptr<handle> client =
        handle::make(std::make_shared<const kafka::config>(kafka::parse(server.url()).value()), role::asking, {}, on)
            .value();
    cluster asking{client->get(), 10'000};
};

TEST_F(cluster_test, makes_grows_and_removes_topics) {
    const auto topic = mine.name("a");
    EXPECT_EQ(asking.partitions(topic).value(), 0);
    ASSERT_FALSE(asking.make({{topic, 2, 0, {{"retention.ms", "1234567"}}}}));
    EXPECT_FALSE(asking.make({{topic, 2, 0, {}}})) << "again is no error";
    EXPECT_EQ(asking.partitions(topic).value(), 2);
    ASSERT_FALSE(asking.grow(topic, 3));
    EXPECT_EQ(asking.partitions(topic).value(), 3);
    EXPECT_EQ(asking.grow(topic, 2), errc::invalid_argument);
    const auto entries = asking.entries(topic).value();
    EXPECT_EQ(entries.at("retention.ms").value, "1234567");
    EXPECT_TRUE(entries.at("retention.ms").own);
    EXPECT_FALSE(entries.at("cleanup.policy").own);
    ASSERT_FALSE(asking.set_entries(topic, {{"retention.ms", "7654321"}}));
    EXPECT_EQ(server.entries(topic).at("retention.ms"), "7654321");
    EXPECT_EQ(asking.set_entries(topic, {{"retention.ms", "soon"}}), errc::invalid_argument);
    EXPECT_TRUE(asking.topics().value().contains(topic));
    ASSERT_FALSE(asking.remove({topic}));
    EXPECT_EQ(asking.entries(topic).error(), errc::unknown_queue);
}

TEST_F(cluster_test, tells_offsets) {
    const auto topic = mine.name("a");
    server.make_topic(topic, 2);
    server.put(topic, {{.partition = 0, .value = "x", .timestamp_ms = 1'000'000},
                       {.partition = 0, .value = "y", .timestamp_ms = 2'000'000},
                       {.partition = 0, .value = "z", .timestamp_ms = 3'000'000}});
    const auto spans = asking.spans(topic, 2).value();
    EXPECT_EQ(spans[0].low, 0);
    EXPECT_EQ(spans[0].high, 3);
    EXPECT_EQ(spans[1].high, 0);
    const auto since = asking.offsets_since(topic, 2, wall_time(1500s)).value();
    EXPECT_EQ(since, (std::vector<std::int64_t>{1, 0}));
    EXPECT_EQ(asking.offsets_since(topic, 2, wall_time(5000s)).value()[0], 3);
    ASSERT_FALSE(asking.remove_before(topic, {{0, 2}}));
    EXPECT_EQ(asking.spans(topic, 2).value()[0].low, 2);
    const auto all = server.all(topic);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].value, "z");
}

TEST_F(cluster_test, commits_for_a_group_without_members) {
    const auto topic = mine.name("a"), group = mine.name("g");
    server.make_topic(topic, 2);
    EXPECT_TRUE(asking.committed(group, topic, 2).value().empty());
    EXPECT_EQ(asking.members(group).value(), 0u);
    const std::string note = "1;a=b~\xC3\xA4";
    ASSERT_FALSE(asking.commit(group, topic, {{1, {7, note}}}));
    const auto told = asking.committed(group, topic, 2).value();
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told.at(1).offset, 7);
    EXPECT_EQ(told.at(1).metadata, note);
    const auto groups = asking.groups().value();
    EXPECT_NE(std::ranges::find(groups, group), groups.end());
    EXPECT_FALSE(asking.remove_group(group));
}

}  // namespace

}  // namespace shove::kafka_test
