#include <shove/sqlite_store.hpp>

#include "../schema.hpp"
#include "messages.hpp"
#include "record.hpp"
#include "upkeep.hpp"

#include <shove/detail/lease_rules.hpp>

#include <algorithm>
#include <utility>

namespace shove {

namespace {

namespace lease = sqlite_backend::lease;
using sqlite_backend::database;
using sqlite_backend::statement;

constexpr std::size_t most_problems = 100;

/// One check of one file, in one read transaction.
class inspection {
public:
    explicit inspection(database& db) : db_(db) {}

    result<sqlite_store_report> run() {
        db_.run("BEGIN");
        own_checks();
        references();
        counts();
        records();
        const auto failed = db_.failure();
        if (auto ended = lease::end_transaction(db_); !ended) return failed ? failed : ended.error();
        return std::move(found_);
    }

private:
    void tell(std::string problem) {
        if (found_.problems.size() < most_problems) found_.problems.push_back(std::move(problem));
    }

    void own_checks() {
        statement integrity(db_, "PRAGMA integrity_check");
        auto rows = integrity.query();
        while (rows.next()) {
            if (rows.text(0) != "ok") tell("SQLite: " + std::string(rows.text(0)));
        }
    }

    void count_of(const char* sql, const std::string& what) {
        const auto count = db_.number(sql);
        if (count > 0) tell(std::to_string(count) + " " + what);
    }

    void references() {
        count_of("SELECT count(*) FROM pragma_foreign_key_check", "rows refer to others that are not there");
        count_of(
            "SELECT count(*) FROM lease_delivery d WHERE NOT EXISTS (SELECT 1 FROM lease_message m WHERE m.seq = "
            "d.seq)",
            "deliveries belong to messages that are not there");
        count_of(
            "SELECT count(*) FROM lease_delivery d WHERE NOT EXISTS (SELECT 1 FROM lease_group g WHERE g.id = "
            "d.group_id AND g.topic_id = d.seq >> 44)",
            "deliveries belong to groups that are not there");
        count_of(
            "SELECT count(*) FROM lease_key k WHERE NOT EXISTS (SELECT 1 FROM lease_message m WHERE m.seq = k.seq)",
            "keys belong to messages that are not there");
        count_of(
            "SELECT count(*) FROM lease_message m WHERE NOT EXISTS (SELECT 1 FROM lease_topic t WHERE t.id = "
            "m.seq >> 44 AND m.seq <= t.tail AND m.seq > (t.id << 44))",
            "messages belong to topics that are not there");
        count_of("SELECT count(*) FROM lease_delivery d JOIN lease_group g ON g.id = d.group_id WHERE d.seq > g.cursor",
                 "deliveries of messages that their group has not started");
    }

    void counts() {
        statement told(db_,
                       "SELECT s.name, s.retained, s.content_bytes, s.subscriptions, "
                       "(SELECT count(*) FROM lease_topic t JOIN lease_message m ON m.seq > (t.id << 44) AND m.seq <= "
                       "t.tail WHERE t.space_id = s.id), "
                       "(SELECT coalesce(sum(length(m.content)), 0) FROM lease_topic t JOIN lease_message m ON m.seq > "
                       "(t.id << 44) AND m.seq <= t.tail WHERE t.space_id = s.id), "
                       "(SELECT count(*) FROM lease_topic t JOIN lease_group g ON g.topic_id = t.id WHERE t.space_id = "
                       "s.id) FROM lease_space s");
        auto rows = told.query();
        while (rows.next()) {
            constexpr std::array<const char*, 3> names{"messages", "bytes of content", "subscriptions"};
            for (int i = 0; i < 3; ++i) {
                if (rows.number(1 + i) == rows.number(4 + i)) continue;
                tell("namespace '" + std::string(rows.text(0)) + "': " + std::to_string(rows.number(1 + i)) + " " +
                     names[static_cast<std::size_t>(i)] + " are noted, " + std::to_string(rows.number(4 + i)) +
                     " are there");
            }
        }
    }

    void records() {
        statement each(db_,
                       "SELECT m.seq, m.id, m.event_kind, m.content_type, m.key, m.fingerprint, m.seal, m.content, "
                       "t.name "
                       "FROM lease_message m JOIN lease_topic t ON t.id = m.seq >> 44");
        statement key(db_, "SELECT 1 FROM lease_key WHERE hash = ?1 AND seq = ?2");
        auto rows = each.query();
        while (rows.next()) {
            ++found_.messages;
            const std::string where = "topic '" + std::string(rows.text(8)) + "', message " +
                                      std::to_string(rows.number(0) & ((std::int64_t{1} << 44) - 1)) + ": ";
            if (!key.query(detail::key_hash(rows.text(8), rows.text(4)), rows.number(0)).next()) {
                tell(where + "its key is not in the index, so it would be published twice");
            }
            if (!rows.text(6).empty()) {
                ++found_.unread;
            } else if (const auto problem = problem_of(rows); !problem.empty()) {
                tell(where + problem);
            }
        }
    }

    static std::string problem_of(const statement::rows& row) {
        const auto blob = row.blob(7);
        auto record = lease::decode_record({reinterpret_cast<const char*>(blob.data()), blob.size()});
        if (!record) return "its record cannot be read";
        lease_message message;
        message.topic = row.text(8);
        message.event_kind = row.text(2);
        message.content_type = row.text(3);
        message.headers = std::move(record->headers);
        message.payload = std::move(record->payload);
        const auto content = detail::fingerprint_of(message);
        return std::ranges::equal(content, row.blob(5)) ? "" : "its content does not match its fingerprint";
    }

    database& db_;
    sqlite_store_report found_;
};

}  // namespace

result<sqlite_store_report> check_sqlite_store(const std::filesystem::path& path) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed)) return lease::no_such_file(path);
    database db({path, database::access::read_only});
    sqlite_backend::check_identity(db);
    if (db.ok() && db.number("PRAGMA user_version") < sqlite_backend::schema_version) {
        return error(errc::version_mismatch,
                     "'" + path.string() + "' has an older schema; `shove store migrate` first");
    }
    if (!db.ok()) return db.failure();
    return inspection(db).run();
}

}  // namespace shove
