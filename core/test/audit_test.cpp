#include <shove/audit.hpp>
#include <shove/testkit/events.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

namespace shove::test {
namespace {

using namespace std::chrono_literals;

audit_record record_of(std::string id) {
    audit_record record;
    record.trace_id = "trace";
    record.topic = "orders";
    record.payload = R"({"id":1})";
    record.delivery_id = std::move(id);
    record.timestamp = wall_time(std::chrono::sys_days(std::chrono::year(2026) / 11 / 30) + 2h + 3min + 4s);
    return record;
}

TEST(audit_json, the_references_fields_in_its_order) {
    auto record = record_of("id-1");
    record.retry_count = 2;
    record.redelivered = true;
    record.headers = headers{{"tenant", "a\"b"}, {"n", 7}};
    record.delivery_count = 3;
    record.outcome = outcome_kind::retry;
    record.duration = 17ms;
    record.timestamp += 120ms;
    EXPECT_EQ(to_json(record),
              R"({"trace_id":"trace","topic":"orders","payload":{"id":1},"metadata":{"retry_count":2,)"
              R"("delivery_id":"id-1","redelivered":true,"headers":{"tenant":"a\"b","n":"7"},"delivery_count":3},)"
              R"("outcome":"Retry","duration_ms":17,"timestamp":"2026-11-30T02:03:04.120Z"})");
}

TEST(audit_json, what_is_absent_is_left_out) {
    const auto text = to_json(record_of("id-1"));
    EXPECT_EQ(text.find("delivery_count"), text.npos);
    EXPECT_NE(text.find(R"("headers":{})"), text.npos);
    EXPECT_NE(text.find(R"("outcome":"Ack")"), text.npos);
    EXPECT_NE(text.find(R"("timestamp":"2026-11-30T02:03:04Z")"), text.npos);
}

TEST(audit_json, a_payload_that_is_no_json_becomes_base64) {
    for (const auto& [payload, expected] : std::vector<std::pair<std::string, std::string>>{
             {"hello", R"("aGVsbG8=")"}, {"{\"a\":", R"("eyJhIjo=")"}, {"", R"("")"}, {"{} x", R"("e30geA==")"}}) {
        auto record = record_of("id");
        record.payload = payload;
        EXPECT_NE(to_json(record).find("\"payload\":" + expected + ","), std::string::npos) << to_json(record);
    }
}

TEST(audit_trail, hands_over_in_order_and_in_batches) {
    const testkit::gate hold;
    std::vector<std::string> seen;
    std::vector<std::size_t> sizes;
    {
        audit_trail trail(
            [&](std::span<const audit_record> records) {
                if (sizes.empty()) hold.arrive();
                sizes.push_back(records.size());
                for (const auto& r : records)
                    seen.push_back(r.delivery_id);
            },
            {.batch = 4});
        EXPECT_TRUE(trail.add(record_of("0")));
        hold.arrivals().wait(1, "the first");
        for (int i = 1; i < 10; ++i)
            EXPECT_TRUE(trail.add(record_of(std::to_string(i))));
        EXPECT_EQ(trail.counts().waiting, 10U);
        hold.open();
        EXPECT_TRUE(trail.flush(10s));
        EXPECT_EQ(trail.counts().written, 10U);
        EXPECT_TRUE(trail.add(record_of("last")));
    }
    EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 4, 4, 1, 1}));
    EXPECT_EQ(seen.back(), "last") << "the destructor hands over what is left";
    EXPECT_EQ(seen.size(), 11U);
    for (std::size_t i = 0; i < 10; ++i)
        EXPECT_EQ(seen[i], std::to_string(i));
}

TEST(audit_trail, what_does_not_fit_is_dropped_and_counted) {
    const testkit::gate hold;
    audit_trail trail([&](std::span<const audit_record>) { hold.arrive(); }, {.max_records = 3});
    const testkit::opens_at_exit opener(hold);
    EXPECT_TRUE(trail.add(record_of("0")));
    hold.arrivals().wait(1, "the first");
    EXPECT_TRUE(trail.add(record_of("1")));
    EXPECT_TRUE(trail.add(record_of("2")));
    EXPECT_FALSE(trail.add(record_of("3")));
    EXPECT_EQ(trail.counts().dropped, 1U);
    EXPECT_FALSE(trail.flush(1ms)) << "the writer hangs";
    hold.open();
    EXPECT_TRUE(trail.flush(10s));
    EXPECT_TRUE(trail.add(record_of("4")));
}

TEST(audit_trail, bytes_are_bounded_too) {
    const testkit::gate hold;
    audit_trail trail([&](std::span<const audit_record>) { hold.arrive(); }, {.max_bytes = 10'000});
    const testkit::opens_at_exit opener(hold);
    EXPECT_TRUE(trail.add(record_of("0")));
    hold.arrivals().wait(1, "the first");
    auto large = record_of("1");
    large.payload.assign(9'000, 'x');
    EXPECT_TRUE(trail.add(large));
    EXPECT_FALSE(trail.add(large));
}

TEST(audit_trail, a_writer_that_throws_is_told_once_in_a_row) {
    testkit::recorder<std::string> told;
    std::atomic<bool> broken{true};
    audit_trail trail([&](std::span<const audit_record>) {
        if (broken) throw std::runtime_error("disk full");
    });
    trail.on_progress([&](const audit_progress& what) {
        if (what.first_failed) told.add(what.first_failed->delivery_id + ": " + std::string(what.why));
    });
    for (const char* id : {"0", "1"}) {
        EXPECT_TRUE(trail.add(record_of(id)));
        EXPECT_TRUE(trail.flush(10s));
    }
    broken = false;
    EXPECT_TRUE(trail.add(record_of("2")));
    EXPECT_TRUE(trail.flush(10s));
    broken = true;
    EXPECT_TRUE(trail.add(record_of("3")));
    EXPECT_TRUE(trail.flush(10s));
    EXPECT_EQ(told.all(), (std::vector<std::string>{"0: disk full", "3: disk full"}));
    EXPECT_EQ(trail.counts().failed, 3U);
    EXPECT_EQ(trail.counts().written, 1U);
}

}  // namespace
}  // namespace shove::test
