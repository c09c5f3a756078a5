// Upkeep of a store's file: check, compact, migrate, statistics, limits, import.

#include "lease_place.hpp"

#include <shove/sqlite_store.hpp>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <fstream>
#include <string>

namespace shove::testkit {
namespace {

using namespace std::chrono_literals;

void run(const std::filesystem::path& file, const std::string& sql) {
    sqlite3* db = nullptr;
    char* text = nullptr;
    sqlite3_open(file.c_str(), &db);
    const int code = sqlite3_exec(db, sql.c_str(), nullptr, nullptr, &text);
    EXPECT_EQ(code, SQLITE_OK) << (text ? text : "");
    sqlite3_free(text);
    sqlite3_close(db);
}

lease_message message_of(std::string_view key, std::string payload = "SECRET-body") {
    lease_message made;
    made.topic = "events";
    made.event_kind = "event.created";
    made.idempotency_key = key;
    made.payload = std::move(payload);
    return made;
}

const lease_request asking{"events", "mailers", "worker-1", 10, std::chrono::seconds(30), milliseconds(0)};

class upkeep : public testing::Test {
protected:
    void fill(int messages, std::size_t bytes = 100) {
        const auto broker = place_.open({}).value();
        broker.subscribe("events", "mailers", {}).value();
        for (int i = 0; i < messages; ++i)
            broker.publish(message_of(std::to_string(i), std::string(bytes, 'x'))).value();
    }
    std::vector<std::string> problems() { return check_sqlite_store(place_.file()).value().problems; }
    file_place place_;
};

TEST_F(upkeep, a_good_file_is_good) {
    fill(10);
    const auto report = check_sqlite_store(place_.file()).value();
    EXPECT_EQ(report.problems, std::vector<std::string>());
    EXPECT_EQ(report.messages, 10U);
    EXPECT_EQ(report.unread, 0U);
}

TEST_F(upkeep, damage_is_found) {
    fill(3);
    const auto expect = [&](const std::string& sql, const std::string& undo, const std::string& word) {
        run(place_.file(), sql);
        const auto found = problems();
        ASSERT_EQ(found.size(), 1U) << sql;
        EXPECT_NE(found[0].find(word), std::string::npos) << found[0];
        EXPECT_EQ(found[0].find("SECRET"), std::string::npos);
        run(place_.file(), undo);
    };
    expect("UPDATE lease_space SET retained = 7", "UPDATE lease_space SET retained = 3", "7 messages are noted, 3 are");
    expect("UPDATE lease_space SET subscriptions = 2", "UPDATE lease_space SET subscriptions = 1", "2 subscriptions");
    expect("INSERT INTO lease_key VALUES (1, 1)", "DELETE FROM lease_key WHERE hash = 1", "1 keys belong");
    expect("INSERT INTO lease_delivery SELECT id, cursor, 0, 0, 1, NULL, '', '' FROM lease_group",
           "DELETE FROM lease_delivery", "deliveries belong to messages");
    expect("UPDATE lease_message SET event_kind = 'other' WHERE seq = (SELECT max(seq) FROM lease_message)",
           "UPDATE lease_message SET event_kind = 'event.created'", "message 3: its content does not match");
    EXPECT_TRUE(problems().empty());
    run(place_.file(), "DELETE FROM lease_key WHERE seq = (SELECT min(seq) FROM lease_key)");
    EXPECT_NE(problems().at(0).find("published twice"), std::string::npos);
}

TEST_F(upkeep, a_compacted_file_is_smaller) {
    fill(200, 4'000);
    {
        const auto broker = place_.open({}).value();
        for (;;) {
            auto asked = asking;
            asked.max = 100;
            const auto got = broker.receive(asked).value();
            if (got.empty()) break;
            for (const auto& each : got)
                broker.acknowledge(each.token).value();
        }
        EXPECT_EQ(broker.purge("events", 1'000).value(), 200U);
    }
    const auto size = compact_sqlite_store(place_.file()).value();
    EXPECT_LT(size.after, size.before / 2);
    EXPECT_TRUE(problems().empty());
    EXPECT_EQ(compact_sqlite_store("none.db").error(), errc::not_connected);
}

TEST_F(upkeep, versions) {
    fill(1);
    const auto version = migrate_sqlite_store(place_.file()).value();
    EXPECT_EQ(version.before, version.after);
    EXPECT_GE(version.after, 3);
}

TEST_F(upkeep, statistics_of_each_namespace) {
    fill(2);
    lease_options other;
    other.name_space = "zebra";
    other.limits.attempts = 7;
    place_.open(other).value();
    const auto all = sqlite_lease_stats(place_.file()).value();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].name_space, "default");
    EXPECT_EQ(all[0].profile, "plaintext-v1");
    EXPECT_EQ(all[0].counts.retained, 2U);
    EXPECT_EQ(all[0].counts.topics.at(0).groups.at(0).pending, 2U);
    EXPECT_EQ(all[1].counts.limits.attempts, 7U);
}

TEST_F(upkeep, limits_can_be_changed) {
    fill(1);
    const auto open_before = place_.open({}).value();
    const auto changed =
        set_sqlite_lease_limits(place_.file(), "default", {.retained_messages = 2, .attempts = 9}).value();
    EXPECT_EQ(changed, (lease_limits{2, 128, 9, 1'048'576}));
    EXPECT_EQ(place_.open({}).error(), errc::configuration_conflict);
    lease_options same;
    same.limits = changed;
    EXPECT_TRUE(place_.open(same));
    EXPECT_TRUE(open_before.publish(message_of("second")));
    EXPECT_EQ(open_before.publish(message_of("third")).error(), errc::capacity_exceeded) << "kept to from now on";
    EXPECT_EQ(set_sqlite_lease_limits(place_.file(), "none", {}).error(), errc::invalid_argument);
    EXPECT_EQ(set_sqlite_lease_limits(place_.file(), "default", {.attempts = 101}).error(), errc::invalid_argument);
}

/// A file as rullst-messaging 13 makes it, with a row of each state.
constexpr const char* rullst_file = R"sql(
CREATE TABLE rullst_messaging_brokers (namespace TEXT NOT NULL PRIMARY KEY, schema_version INTEGER NOT NULL,
    max_retained_messages INTEGER NOT NULL, max_subscriptions INTEGER NOT NULL, max_attempts INTEGER NOT NULL,
    max_payload_bytes INTEGER NOT NULL);
CREATE TABLE rullst_messaging_storage_profiles (namespace TEXT NOT NULL PRIMARY KEY, profile TEXT NOT NULL, key_probe BLOB NOT NULL);
CREATE TABLE rullst_messaging_topics (namespace TEXT NOT NULL, topic TEXT NOT NULL, next_sequence INTEGER NOT NULL,
    PRIMARY KEY (namespace, topic));
CREATE TABLE rullst_messaging_messages (namespace TEXT NOT NULL, topic TEXT NOT NULL, sequence INTEGER NOT NULL,
    message_id TEXT NOT NULL, event_kind TEXT NOT NULL, content_type TEXT NOT NULL, headers_json TEXT NOT NULL,
    payload BLOB NOT NULL, published_at_ms INTEGER NOT NULL, idempotency_key TEXT NOT NULL, fingerprint BLOB NOT NULL,
    PRIMARY KEY (namespace, topic, sequence));
CREATE TABLE rullst_messaging_subscriptions (namespace TEXT NOT NULL, topic TEXT NOT NULL, group_name TEXT NOT NULL,
    start_sequence INTEGER NOT NULL, PRIMARY KEY (namespace, topic, group_name));
CREATE TABLE rullst_messaging_deliveries (namespace TEXT NOT NULL, topic TEXT NOT NULL, group_name TEXT NOT NULL,
    sequence INTEGER NOT NULL, state TEXT NOT NULL, available_at_ms INTEGER, attempt INTEGER NOT NULL DEFAULT 0,
    ack_token TEXT, consumer_name TEXT, lease_expires_at_ms INTEGER, failure_code TEXT, dead_lettered_at_ms INTEGER,
    PRIMARY KEY (namespace, topic, group_name, sequence));
INSERT INTO rullst_messaging_brokers VALUES ('default', 1, 10000, 128, 5, 1048576);
INSERT INTO rullst_messaging_storage_profiles VALUES ('default', 'plaintext-v1', x'');
INSERT INTO rullst_messaging_topics VALUES ('default', 'events', 7);
INSERT INTO rullst_messaging_subscriptions VALUES ('default', 'events', 'mailers', 1);
INSERT INTO rullst_messaging_messages VALUES ('default', 'events', 2, 'msg_00000000000000000000000000000002', 'event.created',
    'application/json', '{"attempt":"1","tenant-hint":"opaque \"q\" é"}', CAST('{"id":42}' AS BLOB), 1735689600123, 'two',
    x'943ac69395fc5731ce179699025494a5930d8370b54fff48bf0fc99b7ebcceb7');
INSERT INTO rullst_messaging_messages SELECT namespace, topic, 3, 'msg_00000000000000000000000000000003', event_kind,
    content_type, headers_json, payload, published_at_ms, 'three', fingerprint FROM rullst_messaging_messages WHERE sequence = 2;
INSERT INTO rullst_messaging_messages SELECT namespace, topic, 4, 'msg_00000000000000000000000000000004', event_kind,
    content_type, headers_json, payload, published_at_ms, 'four', fingerprint FROM rullst_messaging_messages WHERE sequence = 2;
INSERT INTO rullst_messaging_messages SELECT namespace, topic, 6, 'msg_00000000000000000000000000000006', event_kind,
    content_type, headers_json, payload, published_at_ms, 'six', fingerprint FROM rullst_messaging_messages WHERE sequence = 2;
INSERT INTO rullst_messaging_deliveries VALUES ('default', 'events', 'mailers', 2, 'acked', NULL, 1, NULL, NULL, NULL, NULL, NULL);
INSERT INTO rullst_messaging_deliveries VALUES ('default', 'events', 'mailers', 3, 'pending', 1735689600123, 2, NULL, NULL, NULL, NULL, NULL);
INSERT INTO rullst_messaging_deliveries VALUES ('default', 'events', 'mailers', 4, 'in_flight', NULL, 1,
    'ack_0123456789abcdef0123456789abcdef', 'worker-9', 99999999999999, NULL, NULL);
INSERT INTO rullst_messaging_deliveries VALUES ('default', 'events', 'mailers', 6, 'dead', NULL, 5, NULL, NULL, NULL, 'mail.bad', 1735689600999);
)sql";

TEST_F(upkeep, a_file_of_rullst_messaging_is_imported) {
    const scratch_folder folder("shove-import");
    const auto source = folder.path() / "rullst.db";
    run(source, rullst_file);
    sqlite_lease_config in_place;
    in_place.path = source;
    const auto refused = open_sqlite_leases(in_place);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), errc::invalid_argument);
    EXPECT_NE(refused.error().detail.find("shove store import"), std::string::npos) << refused.error().detail;

    const auto report = import_rullst_messaging(source, place_.file());
    ASSERT_TRUE(report) << report.error().detail;
    EXPECT_EQ(report->messages, 4U);
    EXPECT_EQ(report->deliveries, 3U);
    EXPECT_EQ(problems(), std::vector<std::string>()) << "their fingerprints are ours";

    const auto broker = place_.open({}).value();
    auto message = message_of("two", R"({"id":42})");
    message.content_type = "application/json";
    message.headers.add("attempt", "1").add("tenant-hint", "opaque \"q\" é");
    const auto replay = broker.publish(message).value();
    EXPECT_TRUE(replay.duplicate);
    EXPECT_EQ(replay.id.text(), "msg_00000000000000000000000000000002");
    const auto got = broker.receive(asking).value();
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].envelope->sequence, 3U);
    EXPECT_EQ(got[0].attempt, 3U);
    EXPECT_EQ(got[0].envelope->headers.view().text("tenant-hint"), "opaque \"q\" é");
    EXPECT_TRUE(broker.acknowledge(lease_token::parse("ack_0123456789abcdef0123456789abcdef").value()))
        << "a token that is out stays good";
    const auto letters = broker.dead_letters({"events", "mailers", 10, 0}).value().letters;
    ASSERT_EQ(letters.size(), 1U);
    EXPECT_EQ(letters[0].code, "mail.bad");
    EXPECT_EQ(letters[0].attempts, 5U);
    EXPECT_EQ(broker.publish(message_of("new")).value().duplicate, false);
    EXPECT_EQ(broker.receive(asking).value().at(0).envelope->sequence, 7U);

    EXPECT_EQ(import_rullst_messaging(source, place_.file()).error(), errc::invalid_argument) << "it is there already";
    EXPECT_EQ(import_rullst_messaging(place_.file(), folder.path() / "x.db").error(), errc::invalid_argument);
}

TEST_F(upkeep, an_encrypted_file_is_not_imported) {
    const scratch_folder folder("shove-import");
    const auto source = folder.path() / "rullst.db";
    run(source, rullst_file);
    run(source, "UPDATE rullst_messaging_storage_profiles SET profile = 'aes-256-gcm-v1', key_probe = x'00'");
    EXPECT_EQ(import_rullst_messaging(source, place_.file()).error(), errc::unsupported);
    EXPECT_TRUE(sqlite_lease_stats(place_.file()).value().empty()) << "nothing is left half-way";
}

}  // namespace
}  // namespace shove::testkit
