// What is particular to leases in a file: damage, paths, locks, and what else the file holds.

#include "hand.hpp"
#include "lease_place.hpp"
#include "query_plans.hpp"

#include "lease/lease_store.hpp"

#include <shove/testkit/events.hpp>
#include <shove/testkit/manual_clock.hpp>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace shove::testkit {
namespace {

using namespace std::chrono_literals;

class lease_file : public testing::Test {
protected:
    lease_broker open(lease_options options = {}) {
        options.clock = time_;
        return place_.open(std::move(options)).value();
    }
    static lease_message message_of(std::string_view key, std::string_view payload = "SECRET-body") {
        lease_message made;
        made.topic = "events";
        made.event_kind = "event.created";
        made.idempotency_key = key;
        made.payload = payload;
        return made;
    }
    /// With a group and so many messages.
    lease_broker with(int messages, lease_options options = {}) {
        auto broker = open(std::move(options));
        broker.subscribe("events", "mailers", {}).value();
        for (int i = 0; i < messages; ++i)
            broker.publish(message_of(std::to_string(i))).value();
        return broker;
    }
    static lease_request request(std::size_t max = 10) { return {"events", "mailers", "worker-1", max, 30s, 0ms}; }
    std::filesystem::path file() const { return place_.file(); }

    file_place place_;
    std::shared_ptr<manual_clock> time_ = std::make_shared<manual_clock>();
};

TEST_F(lease_file, a_damaged_row_rolls_the_whole_batch_back) {
    const auto broker = with(2);
    hand at(file());
    const std::string good = at.text("SELECT hex(content) FROM lease_message ORDER BY seq DESC LIMIT 1");
    const std::string second = " WHERE seq = (SELECT max(seq) FROM lease_message)";
    at.run("UPDATE lease_message SET content = x'00'" + second);
    const auto refused = broker.receive(request());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), errc::storage_corrupt) << refused.error().detail;
    EXPECT_EQ(at.text("SELECT count(*) FROM lease_delivery"), "0") << "no claim is left";
    at.run("UPDATE lease_message SET content = x'" + good + "'" + second);
    const auto got = broker.receive(request()).value();
    ASSERT_EQ(got.size(), 2U);
    EXPECT_EQ(got[1].attempt, 1U);
}

TEST_F(lease_file, each_damaged_column_is_named) {
    const auto broker = with(1);
    hand at(file());
    at.run("PRAGMA ignore_check_constraints = 1");
    const auto expect = [&](const std::string& column, const std::string& value, const std::string& word) {
        const std::string good = at.text("SELECT quote(" + column + ") FROM lease_message");
        at.run("UPDATE lease_message SET " + column + " = " + value);
        const auto refused = broker.receive(request());
        ASSERT_FALSE(refused) << column;
        EXPECT_EQ(refused.error(), errc::storage_corrupt) << column;
        EXPECT_NE(refused.error().detail.find(word), std::string::npos) << refused.error().detail;
        EXPECT_EQ(refused.error().detail.find("SECRET"), std::string::npos);
        at.run("UPDATE lease_message SET " + column + " = " + good);
    };
    expect("id", "x'00'", "message identifier");
    expect("event_kind", "'SECRET kind'", "message event kind");
    expect("content_type", "'SECRET'", "message content type");
    expect("published_at_ms", "-1", "publication timestamp");
    expect("content", "x'ff000000'", "message bounds");
    expect("content", "x'000000027b5b'", "message header encoding");
    expect("content", "x'000000097b2241223a2278227d78'", "message headers");  // {"A":"x"}, then x
    at.run("UPDATE lease_message SET fingerprint = x'00'");
    EXPECT_EQ(broker.publish(message_of("0")).error(), errc::storage_corrupt);
}

TEST_F(lease_file, a_suppressed_update_is_noticed_and_undone) {
    const auto broker = with(1);
    const auto got = broker.receive(request()).value().at(0);
    hand at(file());
    at.run("CREATE TRIGGER no_update BEFORE UPDATE ON lease_delivery BEGIN SELECT RAISE(IGNORE); END");
    at.run("CREATE TRIGGER no_delete BEFORE DELETE ON lease_delivery BEGIN SELECT RAISE(IGNORE); END");
    EXPECT_EQ(broker.acknowledge(got.token).error(), errc::storage_corrupt);
    EXPECT_EQ(broker.retry(got.token, 1s, "x").error(), errc::storage_corrupt);
    EXPECT_EQ(broker.dead_letter(got.token, "x").error(), errc::storage_corrupt);
    at.run("DROP TRIGGER no_update");
    at.run("DROP TRIGGER no_delete");
    EXPECT_TRUE(broker.acknowledge(got.token)) << "the lease is as it was";
}

TEST_F(lease_file, one_damaged_group_does_not_spoil_what_others_do) {
    const auto broker = with(1);
    hand(file()).run("UPDATE lease_message SET content = x'00'");
    std::vector<std::jthread> threads;
    std::vector<result<lease_receipt>> answers(8, error(errc::internal));
    for (std::size_t i = 0; i < answers.size(); ++i) {
        threads.emplace_back([&, i] {
            EXPECT_FALSE(broker.receive(request()));
            answers[i] = broker.publish(message_of("more-" + std::to_string(i)));
        });
    }
    threads.clear();
    for (const auto& each : answers)
        EXPECT_TRUE(each);
}

TEST_F(lease_file, what_has_no_attempt_left_is_not_delivered) {
    const auto broker = with(2);
    ASSERT_TRUE(broker.retry(broker.receive(request(1)).value().at(0).token, 0ms, "again"));
    hand(file()).run("UPDATE lease_delivery SET attempts = 5");
    const auto got = broker.receive(request()).value();
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].envelope->sequence, 2U);
    const auto letters = broker.dead_letters({"events", "mailers", 10, 0}).value().letters;
    ASSERT_EQ(letters.size(), 1U);
    EXPECT_EQ(letters[0].code, "delivery.max_attempts");
}

TEST_F(lease_file, waiting_for_the_lock_authorises_nothing) {
    const auto broker = with(1);
    const auto got = broker.receive(request()).value().at(0);
    hand other(file());
    other.run("BEGIN IMMEDIATE");
    result<lease_settled> answer = error(errc::internal);
    gate asked;
    std::jthread settling([&] {
        asked.open();
        answer = broker.acknowledge(got.token);
    });
    ASSERT_TRUE(asked.pass());
    time_->advance(30s);
    other.run("COMMIT");
    settling.join();
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error(), errc::lease_expired);
}

TEST_F(lease_file, odd_paths_are_refused_and_make_no_file) {
    const scratch_folder folder("shove-lease-paths");
    const auto target = folder.path() / "real.db";
    std::ofstream(target) << "";
    std::filesystem::create_symlink(target, folder.path() / "link.db");
    for (const auto& path : {std::filesystem::path(), std::filesystem::path(":memory:"),
                             std::filesystem::path("file:x?mode=memory"), folder.path(), folder.path() / "link.db"}) {
        sqlite_lease_config config;
        config.path = path;
        const auto refused = open_sqlite_leases(config);
        ASSERT_FALSE(refused) << path;
        EXPECT_EQ(refused.error(), errc::invalid_argument) << path;
    }
    EXPECT_EQ(std::filesystem::file_size(target), 0U);
    sqlite_lease_config missing;
    missing.path = folder.path() / "none" / "x.db";
    EXPECT_FALSE(open_sqlite_leases(missing));
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "none"));
}

TEST_F(lease_file, eight_open_a_fresh_file_at_once) {
    std::vector<result<lease_broker>> brokers(8, error(errc::internal));
    {
        std::vector<std::jthread> threads;
        for (auto& each : brokers)
            threads.emplace_back([&] { each = place_.open({.clock = time_}); });
    }
    for (std::size_t i = 0; i < brokers.size(); ++i) {
        ASSERT_TRUE(brokers[i]) << brokers[i].error().detail;
        EXPECT_TRUE(brokers[i]->publish(message_of(std::to_string(i))));
    }
    EXPECT_EQ(brokers[0]->stats().value().retained, 8U);
}

TEST_F(lease_file, queues_and_leases_share_a_file) {
    const auto broker = with(1);
    auto queues = sqlite::open({.path = file()}, {time_});
    ASSERT_TRUE(queues) << queues.error().detail;
    EXPECT_EQ(broker.receive(request()).value().size(), 1U);
}

TEST_F(lease_file, nothing_that_grows_is_scanned_or_sorted) {
    namespace lease = sqlite_backend::lease;
    auto store = lease::lease_store::open({.path = file()}, {}, lease::make_plain_sealer(), time_).value();
    int checked = 0;
    for (const auto& sql : sqlite_test::statements_of(store->db)) {
        if (sql.starts_with("PRAGMA") || sql.starts_with("BEGIN") || sql.starts_with("COMMIT")) continue;
        EXPECT_EQ(sqlite_test::costly_steps(store->db, sql), "") << sql;
        ++checked;
    }
    EXPECT_GT(checked, 30);
}

}  // namespace
}  // namespace shove::testkit
