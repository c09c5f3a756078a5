// Messages as records of Kafka's, and back; records of other clients.

#include <gtest/gtest.h>

#include <string>

#include "record.hpp"

namespace shove::kafka_test {

namespace {

using namespace kafka_backend;
using namespace std::string_literals;

incoming there_and_back(const message& msg, const spi::history* past, bool dead = false, wall_time due = {}) {
    const written_headers written(msg, past, due);
    record_view record;
    record.key = msg.key();
    record.value = msg.payload();
    record.headers = written.list();
    return read_record(record, dead);
}

TEST(record, headers_keep_their_types) {
    const auto bytes = "\xff\x00\x80"s;
    const auto invalid = "\xc3("s;
    const auto plain = "abc"s;
    headers given;
    given.add("text", "plain").add("number", -5).add("yes", true).add("half", 0.5).add("none", header_value());
    given.add("binary", std::as_bytes(std::span(bytes))).add("text in binary", std::as_bytes(std::span(plain)));
    given.add("odd text", invalid).add("twice", "a").add("twice", "b").add("Shove-Retry-Count", "mine");
    message_parts parts;
    parts.headers = given;
    const auto got = there_and_back(message::make(parts), nullptr).msg;
    auto expected = given.begin();
    for (const auto& each : got.headers()) {
        EXPECT_EQ(each.name, expected->name);
        EXPECT_EQ(each.value.type(), expected->value.type()) << each.name;
        EXPECT_TRUE(each.value == expected->value) << each.name;
        ++expected;
    }
    EXPECT_EQ(got.headers().size(), 11U);
}

TEST(record, all_parts_return) {
    spi::history past;
    past.retries = 3;
    past.crashes = 1;
    past.first_error = "first";
    past.last_error = "last";
    past.first_failed_at = past.last_failed_at = past.dead_at =
        wall_time(std::chrono::microseconds(1'700'000'000'123'456));
    past.death_reason = "rejected";
    past.original_queue = "orders";
    past.death_count = 2;
    message_parts parts;
    parts.id = "id-1";
    parts.key = "";
    parts.content_type = "text/plain";
    parts.type = "note";
    parts.published_at = past.dead_at;
    parts.expires_at = past.dead_at;
    const auto got = there_and_back(message::make(parts), &past, true, past.dead_at);
    EXPECT_EQ(got.msg.id(), "id-1");
    EXPECT_EQ(got.msg.key(), "");
    EXPECT_EQ(got.msg.content_type(), "text/plain");
    EXPECT_EQ(got.msg.type(), "note");
    EXPECT_EQ(got.msg.published_at(), past.dead_at);
    EXPECT_EQ(got.msg.expires_at(), past.dead_at);
    EXPECT_EQ(got.due, past.dead_at);
    ASSERT_TRUE(got.past);
    EXPECT_EQ(got.past->retries, 3U);
    EXPECT_EQ(got.past->crashes, 1U);
    EXPECT_EQ(got.past->last_error, "last");
    EXPECT_EQ(got.past->death_reason, "rejected");
    EXPECT_EQ(got.past->death_count, 2U);
    EXPECT_EQ(got.past->dead_at, past.dead_at);
}

TEST(record, of_the_rust_library) {
    record_view record;
    record.headers = {{"Shove-Message-Id", "b7c9"}, {"Shove-Retry-Count", "2"}, {"trace", "t"}};
    record.timestamp_ms = 1'700'000'000'001;
    const auto got = read_record(record, false);
    EXPECT_EQ(got.msg.id(), "b7c9");
    EXPECT_FALSE(got.msg.key());
    EXPECT_EQ(got.past->retries, 2U);
    EXPECT_EQ(got.msg.headers().text("trace"), "t");
    EXPECT_EQ(got.msg.published_at(), wall_time(milliseconds(1'700'000'000'001)));
}

TEST(record, headers_that_only_look_like_ours_stay) {
    record_view record;
    record.headers = {{"Shove-Retry-Count", "many"}, {"Shove-Other", "x"}, {"", "unnamed"}, {"null", std::nullopt}};
    const auto got = read_record(record, false);
    EXPECT_FALSE(got.past);
    EXPECT_EQ(got.msg.headers().size(), 4U);
    const auto again = there_and_back(got.msg, nullptr);
    EXPECT_EQ(again.msg.headers().text("Shove-Retry-Count"), "many");
    EXPECT_EQ(again.msg.headers().text("Shove-Other"), "x");
    EXPECT_EQ(again.msg.headers().find("null")->type(), header_type::none);
}

}  // namespace

}  // namespace shove::kafka_test
