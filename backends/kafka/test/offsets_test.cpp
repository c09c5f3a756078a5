// Where a group stands, and putting it elsewhere.

#include "kafka_server.hpp"
#include "waiting.hpp"

#include <shove/kafka_offsets.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace shove::kafka_test {

namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class offsets_test : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_FALSE(opened(mine.url("&partitions=2")).declare(orders));
        server.put(mine.name("orders"), {{.partition = 0, .value = "a", .timestamp_ms = 1'000'000},
                                         {.partition = 0, .value = "b", .timestamp_ms = 2'000'000},
                                         {.partition = 0, .value = "c", .timestamp_ms = 3'000'000},
                                         {.partition = 1, .value = "d", .timestamp_ms = 2'000'000}});
    }
    std::vector<std::int64_t> put(const kafka_position& where) const {
        std::vector<std::int64_t> made;
        for (const auto& each : reset_kafka_offsets(settings, orders, where).value())
            made.push_back(each.committed.value());
        return made;
    }

    kafka_server server;
    own_topics mine{server};
    const topology orders{"orders"};
    const kafka::config settings = kafka::parse(mine.url()).value();
};

TEST_F(offsets_test, tells_the_lag_of_each_partition) {
    const auto before = kafka_offsets(settings, orders).value();
    ASSERT_EQ(before.size(), 2u);
    EXPECT_EQ(before[0].lag, 3u);
    EXPECT_FALSE(before[0].committed);
    EXPECT_EQ(before[1].high, 1);
    EXPECT_EQ(put({.to = kafka_position::kind::tail}), (std::vector<std::int64_t>{3, 1}));
    const auto after = kafka_offsets(settings, orders).value();
    EXPECT_EQ(after[0].lag, 0u);
    EXPECT_EQ(after[0].committed, 3);
}

TEST_F(offsets_test, puts_a_group_where_it_is_told) {
    using kind = kafka_position::kind;
    EXPECT_EQ(put({.to = kind::head}), (std::vector<std::int64_t>{0, 0}));
    EXPECT_EQ(put({.to = kind::time, .when = wall_time(1500s)}), (std::vector<std::int64_t>{1, 0}));
    EXPECT_EQ(put({.to = kind::time, .when = wall_time(9000s)}), (std::vector<std::int64_t>{3, 1}));
    EXPECT_EQ(put({.to = kind::offset, .offset = 2}), (std::vector<std::int64_t>{2, 1}));
    EXPECT_EQ(server.committed(mine.name("orders-consumer"), mine.name("orders")).at(0), 2);
}

TEST_F(offsets_test, refuses_what_has_no_group_or_no_topic) {
    EXPECT_EQ(kafka_offsets(settings, topology("news").broadcast()).error(), errc::invalid_topology);
    const auto cause = kafka_offsets(settings, topology("nothing")).error();
    EXPECT_EQ(cause, errc::unknown_queue);
    EXPECT_THAT(cause.message(), HasSubstr("nothing"));
}

TEST_F(offsets_test, refuses_a_group_with_members) {
    const opened on(mine.url());
    spi::source from;
    from.topology = queue_topology::make(orders).value();
    const auto reading = waited<std::shared_ptr<spi::subscription>>(
        [&](auto done) { on->subscribe(from, [done](auto told) mutable { done(std::move(told).value()); }); });
    const auto got = waited<std::size_t>(
        [&](auto done) { reading->receive(1, [done](auto told) mutable { done(told ? told->size() : 0); }); });
    EXPECT_EQ(got, 1u) << "it has joined";
    const auto cause = reset_kafka_offsets(settings, orders, {.to = kafka_position::kind::head}).error();
    EXPECT_EQ(cause, errc::storage_busy);
    EXPECT_THAT(cause.message(), HasSubstr("stop its consumers"));
    EXPECT_FALSE(waited<error>([&](auto done) { reading->close(std::move(done)); }));
    const auto until = std::chrono::steady_clock::now() + 20s;
    EXPECT_FALSE(waited<error>([&](auto done) { on->close(until, std::move(done)); }));
}

}  // namespace

}  // namespace shove::kafka_test
