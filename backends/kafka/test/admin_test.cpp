// What operators do: list, look, move, remove; on a real cluster, without the command.

#include "kafka_server.hpp"
#include "waiting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace shove::kafka_test {

namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

std::string text_of(const message& of) {
    return {reinterpret_cast<const char*>(of.payload().data()), of.payload().size()};
}

class admin_test : public testing::Test {
protected:
    std::vector<spi::browsed> look(const std::string& queue, std::uint64_t after = 0, std::size_t max = 100) const {
        return waited<std::vector<spi::browsed>>([&](auto done) {
            on->admin()->browse(queue, after, max, [done](auto told) mutable { done(std::move(told).value()); });
        });
    }
    std::vector<std::string> texts(const std::string& queue) const {
        std::vector<std::string> made;
        for (const auto& each : look(queue))
            made.push_back(text_of(each.msg));
        return made;
    }
    std::size_t remove(const std::string& queue, std::vector<std::uint64_t> cursors) const {
        return waited<std::size_t>([&](auto done) {
            on->admin()->remove(queue, std::move(cursors), [done](auto told) mutable { done(told.value()); });
        });
    }
    std::size_t move(const std::string& from, const std::string& to, std::vector<spi::moved> items) const {
        return waited<std::size_t>([&](auto done) {
            on->admin()->move(from, to, std::move(items), [done](auto told) mutable { done(told.value()); });
        });
    }
    spi::queue_depth depth(const std::string& queue) const {
        return waited<spi::queue_depth>(
            [&](auto done) { on->depth(queue, [done](auto told) mutable { done(told.value()); }); });
    }
    void put(const std::string& queue, int partition, const std::vector<std::string>& values) const {
        std::vector<record> records;
        for (const auto& value : values)
            records.push_back({.partition = partition, .value = value});
        server.put(mine.name(queue), records);
    }

    kafka_server server;
    own_topics mine{server};
    opened on{mine.url("&partitions=2")};
};

TEST_F(admin_test, lists_queues_with_what_waits_in_them) {
    ASSERT_FALSE(on.declare(topology("orders").hold(5s).dlq()));
    put("orders", 0, {"a", "b"});
    put("orders", 1, {"c"});
    put("orders-dlq", 0, {"d"});
    const opened other(mine.url());  // knows no topology
    const auto rows = waited<std::vector<spi::queue_info>>(
        [&](auto done) { other->admin()->list_queues([done](auto told) mutable { done(std::move(told).value()); }); });
    ASSERT_EQ(rows.size(), 2u) << "where messages wait for their next call is not listed";
    const auto orders = std::ranges::find(rows, "orders", &spi::queue_info::name);
    ASSERT_NE(orders, rows.end());
    EXPECT_EQ(orders->depth.ready, 3u);
    EXPECT_EQ(orders->dead_letter_queue, "orders-dlq");
    EXPECT_EQ(orders->dead, 1u);
}

TEST_F(admin_test, looks_at_pages_in_order) {
    ASSERT_FALSE(on.declare(topology("orders")));
    put("orders", 0, {"a", "b", "c"});
    put("orders", 1, {"d", "e"});
    EXPECT_THAT(texts("orders"), ElementsAre("a", "b", "c", "d", "e"));
    const auto first = look("orders", 0, 2);
    ASSERT_EQ(first.size(), 2u);
    const auto second = look("orders", first.back().cursor, 2);
    ASSERT_EQ(second.size(), 2u);
    EXPECT_EQ(text_of(second[0].msg), "c");
    EXPECT_EQ(text_of(second[1].msg), "d");
    EXPECT_GT(second[0].cursor, first[1].cursor);
    EXPECT_TRUE(look("orders", look("orders").back().cursor).empty());
}

TEST_F(admin_test, removes_by_settling_in_the_groups_name) {
    ASSERT_FALSE(on.declare(topology("orders")));
    put("orders", 0, {"a", "b", "c", "d"});
    const auto all = look("orders");
    EXPECT_EQ(remove("orders", {all[1].cursor, all[2].cursor}), 2u);
    EXPECT_THAT(texts("orders"), ElementsAre("a", "d"));
    EXPECT_EQ(depth("orders").ready, 2u);
    EXPECT_EQ(server.committed(mine.name("orders-consumer"), mine.name("orders")).at(0), 0);
    EXPECT_EQ(remove("orders", {all[0].cursor, all[1].cursor}), 1u) << "one is gone";
    EXPECT_EQ(server.committed(mine.name("orders-consumer"), mine.name("orders")).at(0), 3);
    EXPECT_THAT(texts("orders"), ElementsAre("d"));
    EXPECT_EQ(server.all(mine.name("orders")).size(), 4u) << "the log keeps them";
}

TEST_F(admin_test, moves_a_copy_and_settles_the_original) {
    ASSERT_FALSE(on.declare(topology("orders").dlq()));
    put("orders-dlq", 1, {"a", "b"});
    std::vector<spi::moved> items;
    for (auto& each : look("orders-dlq"))
        items.push_back({each.cursor, std::move(each.msg)});
    items.pop_back();
    EXPECT_EQ(move("orders-dlq", "orders", items), 1u);
    EXPECT_EQ(move("orders-dlq", "orders", items), 0u) << "it is gone";
    EXPECT_THAT(texts("orders"), ElementsAre("a"));
    EXPECT_THAT(texts("orders-dlq"), ElementsAre("b"));
    EXPECT_EQ(depth("orders-dlq").ready, 1u);
}

TEST_F(admin_test, a_shard_is_a_partition) {
    ASSERT_FALSE(on.declare(topology("moves").hold(5s).dlq().sequenced(sequence_failure::skip).routing_shards(2)));
    put("moves", 0, {"a"});
    put("moves", 1, {"b", "c"});
    EXPECT_EQ(depth("moves-seq-1").ready, 2u);
    EXPECT_THAT(texts("moves-seq-1"), ElementsAre("b", "c"));
    EXPECT_THAT(texts("moves-seq-0"), ElementsAre("a"));
}

TEST_F(admin_test, lists_and_releases_poisoned_keys) {
    const auto layout = topology("moves").hold(5s).dlq().sequenced(sequence_failure::fail_all).routing_shards(2);
    ASSERT_FALSE(on.declare(layout));
    const auto shards = queue_topology::make(layout).value()->sequencing->reader_queues;
    server.put(mine.name("moves-keys"), {{.key = "bad", .has_key = true, .value = "5000000"},
                                         {.key = "worse", .has_key = true, .value = "6000000"}});
    const auto keys = [&] {
        auto rows = waited<std::vector<spi::poisoned_key>>([&](auto done) {
            on->admin()->list_keys(shards, [done](auto told) mutable { done(std::move(told).value()); });
        });
        std::ranges::sort(rows, {}, &spi::poisoned_key::key);
        return rows;
    };
    const auto release = [&](const std::string& key) {
        return waited<std::size_t>([&](auto done) {
            on->admin()->release_key(shards[0], key, [done](auto told) mutable { done(told.value()); });
        });
    };
    const auto both = keys();
    ASSERT_EQ(both.size(), 2u);
    EXPECT_EQ(both[0].key, "bad");
    EXPECT_EQ(both[0].since, wall_time(5s));
    EXPECT_THAT(shards, testing::Contains(both[0].queue));
    EXPECT_EQ(release("bad"), 1u);
    EXPECT_EQ(release("bad"), 0u);
    ASSERT_EQ(keys().size(), 1u);
    EXPECT_EQ(keys()[0].key, "worse");
}

TEST_F(admin_test, says_what_is_not_there) {
    const auto cause = waited<error>(
        [&](auto done) { on->admin()->browse("nothing", 0, 1, [done](auto told) mutable { done(told.error()); }); });
    EXPECT_EQ(cause, errc::unknown_queue);
    EXPECT_THAT(cause.message(), HasSubstr("'nothing'"));
}

TEST_F(admin_test, describes_its_cluster) {
    const auto told = waited<spi::description>(
        [&](auto done) { on->describe([done](auto answer) mutable { done(std::move(answer).value()); }); });
    const auto cluster = std::ranges::find(told.facts, "cluster", &spi::fact::name);
    ASSERT_NE(cluster, told.facts.end());
    EXPECT_EQ(cluster->value, "TnJva2Vyc0Jyb2tlcnNCUg");
}

}  // namespace

}  // namespace shove::kafka_test
