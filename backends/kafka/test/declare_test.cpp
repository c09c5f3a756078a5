// What `declare` makes of a topology on a real cluster.

#include "kafka_server.hpp"
#include "waiting.hpp"

#include <gmock/gmock.h>
#include <shove/testkit/events.hpp>

#include <gtest/gtest.h>

#include <string>

#include "cluster.hpp"

namespace shove::kafka_test {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class declare_test : public testing::Test {
protected:
    static topology ordered(std::uint16_t shards) {
        return topology("orders").hold(5s).dlq().sequenced(sequence_failure::skip).routing_shards(shards);
    }
    std::string topic(std::string_view queue = "orders") const { return mine.name(queue); }

    kafka_server server;
    own_topics mine{server};
    opened on{mine.url("&partitions=2")};
};

TEST_F(declare_test, makes_topic_dead_letters_and_waits) {
    const auto orders = topology("orders").hold(5s).dlq();
    EXPECT_FALSE(on.declare(orders));
    EXPECT_FALSE(on.declare(orders)) << "again changes nothing";
    EXPECT_EQ(server.partitions(topic()), 2);
    EXPECT_EQ(server.partitions(topic("orders-dlq")), 2);
    EXPECT_GT(server.partitions(topic("orders-retry-1m")), 0);
    EXPECT_TRUE(server.entries(topic()).empty());
}

TEST_F(declare_test, makes_a_partition_for_each_shard_and_a_compacted_topic_of_keys) {
    EXPECT_FALSE(on.declare(ordered(3)));
    EXPECT_EQ(server.partitions(topic()), 3);
    EXPECT_EQ(server.entries(topic("orders-keys")).at("cleanup.policy"), "compact");
}

TEST_F(declare_test, sets_entries_and_leaves_foreign_ones) {
    server.make_topic(topic(), 2, {{"retention.bytes", "123456789"}, {"retention.ms", "1000000"}});
    const opened set(mine.url("&partitions=2&topic.retention.ms=2000000"));
    EXPECT_FALSE(set.declare(topology("orders")));
    // The controller has confirmed it; the broker that is asked learns of it soon.
    testkit::eventually("retention.ms is set", [&] { return server.entries(topic()).at("retention.ms") == "2000000"; });
    EXPECT_EQ(server.entries(topic()).at("retention.bytes"), "123456789");
    const auto refused = opened(mine.url("&topic.retention.ms=soon")).declare(topology("orders"));
    EXPECT_EQ(refused, errc::invalid_argument);
    EXPECT_THAT(refused.message(), HasSubstr(topic()));
}

TEST_F(declare_test, sets_entries_of_single_topics) {
    auto settings = kafka::parse(mine.url()).value();
    settings.topics.entries["retention.ms"] = "1000000";
    settings.topic["orders"] = {.partitions = 5, .entries = {{"retention.ms", "3000000"}}};
    settings.topic["orders-dlq"] = {.partitions = 1, .entries = {{"cleanup.policy", "compact"}}};
    EXPECT_FALSE(opened(settings).declare(topology("orders").dlq()));
    EXPECT_EQ(server.partitions(topic()), 5);
    EXPECT_EQ(server.entries(topic()).at("retention.ms"), "3000000");
    EXPECT_EQ(server.partitions(topic("orders-dlq")), 1);
    EXPECT_EQ(server.entries(topic("orders-dlq")), (std::map<std::string, std::string>{{"cleanup.policy", "compact"}}));
}

TEST_F(declare_test, grows_and_never_shrinks) {
    EXPECT_FALSE(on.declare(topology("orders")));
    EXPECT_FALSE(opened(mine.url("&partitions=4")).declare(topology("orders")));
    EXPECT_EQ(server.partitions(topic()), 4);
    EXPECT_FALSE(on.declare(topology("orders")));
    EXPECT_EQ(server.partitions(topic()), 4);
}

TEST_F(declare_test, grows_a_sequenced_topic_only_if_it_is_empty_or_allowed) {
    EXPECT_FALSE(on.declare(ordered(2)));
    EXPECT_EQ(on.declare(ordered(3)).message(), error().message()) << "it is empty";
    EXPECT_EQ(server.partitions(topic()), 3);
    EXPECT_FALSE(on.declare(ordered(2)));
    EXPECT_EQ(server.partitions(topic()), 3) << "it never shrinks";
    server.put(topic(), {{.key = "k", .has_key = true, .value = "v"}});
    const auto more = on.declare(ordered(4));
    EXPECT_EQ(more, errc::topology_mismatch);
    EXPECT_THAT(more.message(), HasSubstr("allow_repartitioning"));
    EXPECT_EQ(server.partitions(topic()), 3);
    EXPECT_FALSE(opened(mine.url("&allow_repartitioning=true")).declare(ordered(4)));
    EXPECT_EQ(server.partitions(topic()), 4);
}

TEST_F(declare_test, verifies_what_is_somebody_elses) {
    const auto theirs = topology("orders").dlq().external();
    const auto cause = on.declare(theirs);
    EXPECT_EQ(cause, errc::unknown_queue);
    EXPECT_THAT(cause.message(), HasSubstr("'" + topic() + "'"));
    EXPECT_TRUE(server.topics(mine.prefix()).empty()) << "nothing was made";
    server.make_topic(topic());
    EXPECT_THAT(on.declare(theirs).message(), HasSubstr("orders-dlq'"));
    server.make_topic(topic("orders-dlq"));
    EXPECT_FALSE(on.declare(theirs));
    EXPECT_EQ(server.topics(mine.prefix()).size(), 2u);
    EXPECT_EQ(server.partitions(topic()), 1);
}

TEST_F(declare_test, begins_a_reader_group_where_the_queue_ends) {
    EXPECT_FALSE(on.declare(topology("orders")));
    server.put(topic(), {{.partition = 1, .value = "before"}});
    const auto bill = topology("orders").dlq().for_consumer_group("bill");
    EXPECT_FALSE(on.declare(bill));
    const auto group = topic("orders-bill-consumer");
    EXPECT_EQ(server.committed(group, topic()), (std::map<std::int32_t, std::int64_t>{{0, 0}, {1, 1}}));
    server.put(topic(), {{.partition = 1, .value = "after"}});
    EXPECT_FALSE(on.declare(bill)) << "again";
    EXPECT_EQ(server.committed(group, topic()).at(1), 1);
    EXPECT_EQ(server.partitions(topic("orders-bill-dlq")), 2);
    EXPECT_EQ(server.partitions(topic("orders-bill")), 0) << "it reads the queue's own topic";
}

TEST_F(declare_test, refuses_a_hold_that_is_longer_than_the_retention) {
    const auto cause = opened(mine.url("&topic.retention.ms=60000")).declare(ordered(2).hold(2h));
    EXPECT_EQ(cause, errc::invalid_topology);
    EXPECT_THAT(cause.message(), HasSubstr("retention"));
}

TEST_F(declare_test, refuses_names_that_no_topic_can_have) {
    const auto cause = on.declare(topology("orders/new"));
    EXPECT_EQ(cause, errc::invalid_topology);
    EXPECT_THAT(cause.message(), HasSubstr("orders/new"));
}

}  // namespace

}  // namespace shove::kafka_test
