#include "rabbitmq_factory.hpp"

#include <shove/shove.hpp>
#include <shove/testkit/events.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

/// A sequenced topic that is declared with another number of shards than it has, on both types of queues.
namespace shove::testkit {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using rabbit_broker = shove::broker<shove::rabbitmq>;

shove::topology layout(std::uint16_t shards) {
    return shove::topology("orders")
        .hold(milliseconds(5))
        .dlq()
        .sequenced(sequence_failure::fail_all)
        .routing_shards(shards);
}

runtime_topic with_shards(std::uint16_t shards) {
    return runtime_topic::make(layout(shards)).value();
}

class rabbitmq_resharding : public testing::TestWithParam<const char*> {
protected:
    rabbit_broker connect(const std::string& options = {}) const {
        return rabbit_broker(rabbitmq::parse(host_.url() + "?queues=" + GetParam() + options).value());
    }
    /// What declaring says; empty: nothing.
    static std::string declare(const rabbit_broker& on, const runtime_topic& topic) {
        try {
            on.declare(topic);
            return {};
        } catch (const exception& e) {
            EXPECT_EQ(e.cause(), errc::topology_mismatch) << e.what();
            return e.cause().message();
        }
    }
    void publish(const rabbit_broker& on, std::uint16_t shards, int count, const std::string& key = {}) const {
        for (int n = 0; n < count; ++n) {
            publish_options how;
            how.key = key.empty() ? "k" + std::to_string(n) : key;
            on.publisher().publish(with_shards(shards), "body", how);
        }
    }
    /// How many shards there are; all with their state, or none.
    std::size_t shards() const {
        std::size_t count = 0;
        for (; exists("orders-seq-" + std::to_string(count)); ++count) {
            EXPECT_TRUE(exists("orders-seq-" + std::to_string(count) + "-state"));
            EXPECT_TRUE(exists("orders-seq-" + std::to_string(count) + "-poisoned"));
        }
        EXPECT_FALSE(exists("orders-seq-" + std::to_string(count) + "-state"));
        EXPECT_FALSE(exists("orders-seq-" + std::to_string(count) + "-poisoned"));
        return count;
    }
    bool exists(const std::string& queue) const {
        return server_.call("GET", "/api/queues/" + rabbitmq_test::percent_encoded(host_.name()) + "/" + queue)
                   .status == 200;
    }
    /// How many messages a consumer of that number of shards is given until nothing is left.
    std::size_t consume(const rabbit_broker& on, std::uint16_t shards, std::size_t count) const {
        const counter calls;
        auto group = on.consumer_group();
        group.add(with_shards(shards), [calls](std::span<const std::byte>, const delivery&) {
            calls.add();
            return ack;
        });
        group.start();
        calls.wait(count, "the messages");
        EXPECT_TRUE(group.stop(patience()).clean());
        return calls.value();
    }

    rabbitmq_test::rabbitmq_server server_;
    rabbitmq_test::vhost host_{server_};
};

TEST_P(rabbitmq_resharding, an_empty_topic_takes_another_number) {
    const auto on = connect();
    for (const std::uint16_t shards : {3, 5, 2, 2}) {
        EXPECT_EQ(declare(on, with_shards(shards)), "");
        EXPECT_EQ(this->shards(), shards);
        publish(on, shards, 20);
        EXPECT_EQ(consume(on, shards, 20), 20U);
    }
}

TEST_P(rabbitmq_resharding, is_refused_while_messages_are_there) {
    const auto on = connect();
    ASSERT_EQ(declare(on, with_shards(3)), "");
    publish(on, 3, 1);
    for (const std::uint16_t shards : {2, 4}) {
        EXPECT_THAT(declare(connect(), with_shards(shards)),
                    AllOf(HasSubstr("'orders' has 3 shards"), HasSubstr(std::to_string(shards) + " are declared"),
                          HasSubstr("holds 1 message"), HasSubstr("drain it"), HasSubstr("allow_resharding=true")));
        EXPECT_EQ(this->shards(), 3U);
    }
    EXPECT_EQ(declare(connect(), with_shards(3)), "");
    EXPECT_EQ(consume(on, 3, 1), 1U);
    EXPECT_EQ(declare(connect(), with_shards(4)), "");
}

/// What a consumer has in hand is not to be seen.
TEST_P(rabbitmq_resharding, is_refused_while_there_are_consumers) {
    const auto on = connect();
    ASSERT_EQ(declare(on, with_shards(2)), "");
    auto group = on.consumer_group();
    group.add(with_shards(2), [](std::span<const std::byte>, const delivery&) { return ack; });
    group.start();
    EXPECT_THAT(declare(connect(), with_shards(3)), HasSubstr("has a consumer"));
    EXPECT_THAT(declare(connect("&allow_resharding=true"), with_shards(1)),
                AllOf(HasSubstr("'orders-seq-1' has a consumer"), HasSubstr("must be empty")));
    EXPECT_EQ(declare(connect(), with_shards(2)), "");
    EXPECT_TRUE(group.stop(patience()).clean());
    EXPECT_EQ(declare(connect(), with_shards(1)), "");
    EXPECT_EQ(shards(), 1U);
}

/// A poisoned key would be forgotten where it goes.
TEST_P(rabbitmq_resharding, is_refused_while_keys_are_poisoned) {
    const auto on = connect();
    ASSERT_EQ(declare(on, with_shards(2)), "");
    auto group = on.consumer_group();
    group.add(with_shards(2), [](std::span<const std::byte>, const delivery&) { return reject("bad"); });
    group.start();
    publish(on, 2, 1, "k");
    eventually("a dead letter", [&] { return group.stats("orders").dead_lettered == 1; });
    EXPECT_TRUE(group.stop(patience()).clean());
    EXPECT_THAT(declare(connect(), with_shards(3)), HasSubstr("has poisoned keys"));
    EXPECT_EQ(shards(), 2U);
}

TEST_P(rabbitmq_resharding, allowed_by_name_it_grows_and_loses_nothing) {
    const auto on = connect("&allow_resharding=true");
    ASSERT_EQ(declare(on, with_shards(2)), "");
    publish(on, 2, 20);
    EXPECT_EQ(declare(on, with_shards(5)), "");
    publish(on, 5, 20);
    EXPECT_EQ(shards(), 5U);
    EXPECT_EQ(consume(on, 5, 40), 40U);
}

/// A shard that goes must be empty, whatever is allowed.
TEST_P(rabbitmq_resharding, allowed_by_name_it_does_not_shrink_over_messages) {
    const auto on = connect("&allow_resharding=true");
    ASSERT_EQ(declare(on, with_shards(2)), "");
    publish(on, 2, 40);
    EXPECT_THAT(declare(on, with_shards(1)), AllOf(HasSubstr("'orders-seq-1' holds"), HasSubstr("must be empty")));
    EXPECT_EQ(shards(), 2U);
    EXPECT_EQ(consume(on, 2, 40), 40U);
    EXPECT_EQ(declare(on, with_shards(1)), "");
    EXPECT_EQ(shards(), 1U);
}

TEST_P(rabbitmq_resharding, a_reader_group_has_shards_of_its_own) {
    const auto on = connect();
    const auto audit = runtime_topic::make(layout(2).for_consumer_group("audit")).value();
    ASSERT_EQ(declare(on, with_shards(2)), "");
    ASSERT_EQ(declare(on, audit), "");
    publish(on, 2, 1);
    EXPECT_EQ(consume(on, 2, 1), 1U);
    EXPECT_THAT(declare(on, runtime_topic::make(layout(3).for_consumer_group("audit")).value()),
                HasSubstr("'orders-audit' has 2 shards"));
    EXPECT_EQ(declare(on, with_shards(3)), "");
}

/// Several processes start at the same time.
TEST_P(rabbitmq_resharding, all_who_declare_the_same_succeed) {
    for (const std::uint16_t count : {4, 6, 3}) {
        const testkit::recorder<std::string> said;
        std::vector<std::jthread> threads;
        for (int n = 0; n < 4; ++n) {
            threads.emplace_back([&, said] {
                const auto on = connect();
                said.add(declare(on, with_shards(count)));
                publish(on, count, 3);
            });
        }
        threads.clear();
        EXPECT_THAT(said.all(), testing::Each("")) << count;
        EXPECT_EQ(consume(connect(), count, 12), 12U);
        EXPECT_EQ(shards(), count);
    }
}

INSTANTIATE_TEST_SUITE_P(all, rabbitmq_resharding, testing::Values("quorum", "classic"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace shove::testkit
