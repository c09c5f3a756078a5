#include <shove/sqlite_store.hpp>

#include "../schema.hpp"
#include "deliveries.hpp"
#include "messages.hpp"
#include "record.hpp"
#include "upkeep.hpp"

#include <shove/detail/lease_rules.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace shove {

namespace {

namespace lease = sqlite_backend::lease;
using sqlite_backend::database;
using sqlite_backend::statement;

/// Copies one file of rullst-messaging, schema version 1, within a transaction of the store's.
class rullst_import {
public:
    rullst_import(database& from, database& into)
        : from_(from),
          into_(into),
          spaces_(into),
          add_topic_(into, "INSERT INTO lease_topic (space_id, name, tail) VALUES (?1, ?2, 0)"),
          set_tail_(into, "UPDATE lease_topic SET tail = ?2 WHERE id = ?1"),
          add_group_(into, "INSERT INTO lease_group (topic_id, name, cursor) VALUES (?1, ?2, ?3)"),
          add_message_(into,
                       "INSERT INTO lease_message (seq, id, event_kind, content_type, key, fingerprint, "
                       "published_at_ms, seal, content) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, '', ?8)"),
          add_key_(into, "INSERT INTO lease_key (hash, seq) VALUES (?1, ?2)"),
          add_delivery_(into,
                        "INSERT INTO lease_delivery (group_id, seq, state, at, attempts, token, consumer, code) "
                        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)") {}

    void run() {
        statement list(
            from_,
            "SELECT b.namespace, b.schema_version, b.max_retained_messages, b.max_subscriptions, "
            "b.max_attempts, b.max_payload_bytes, coalesce(p.profile, 'plaintext-v1') "
            "FROM rullst_messaging_brokers b LEFT JOIN rullst_messaging_storage_profiles p USING (namespace)");
        auto rows = list.query();
        while (rows.next() && into_.ok()) {
            if (rows.number(1) != 1) {
                return into_.fail({errc::version_mismatch, "'" + from_.path().string() + "' has schema version " +
                                                               std::to_string(rows.number(1)) +
                                                               " of rullst-messaging; only version 1 can be imported"});
            }
            if (rows.text(6) != "plaintext-v1") {
                return into_.fail({errc::unsupported, "namespace '" + std::string(rows.text(0)) +
                                                          "' is encrypted; only plain ones can be imported"});
            }
            copy_space(std::string(rows.text(0)),
                       {static_cast<std::uint64_t>(rows.number(2)), static_cast<std::uint32_t>(rows.number(3)),
                        static_cast<std::uint32_t>(rows.number(4)), static_cast<std::size_t>(rows.number(5))});
        }
    }

    const lease_import_report& report() const noexcept { return done_; }

private:
    struct topic {
        std::string name;
        std::int64_t id = 0;
        std::int64_t tail = 0;
        std::int64_t base() const { return id << sqlite_backend::sequence_bits; }
    };

    void copy_space(const std::string& name, const lease_limits& limits) {
        lease_options as;
        as.name_space = name;
        as.limits = limits;
        if (auto wrong = detail::check_options(as)) return into_.fail(std::move(wrong));
        if (spaces_.find(name)) {
            return into_.fail({errc::invalid_argument, "'" + into_.path().string() + "' has the namespace '" + name +
                                                           "' already; import into another file"});
        }
        lease::space_row space;
        space.id = spaces_.insert(name, limits, {"plaintext-v1"});
        ++done_.name_spaces;
        statement list(from_, "SELECT topic, next_sequence FROM rullst_messaging_topics WHERE namespace = ?1");
        auto rows = list.query(std::string_view(name));
        while (rows.next() && into_.ok()) {
            const auto last = rows.number(1) - 1;
            if (last < 0 || last >> sqlite_backend::sequence_bits != 0) {
                return into_.fail(lease::damaged(from_, "a topic's sequence"));
            }
            topic at{std::string(rows.text(0))};
            add_topic_.run(space.id, std::string_view(at.name));
            at.id = sqlite3_last_insert_rowid(into_.handle());
            at.tail = at.base() + last;
            set_tail_.run(at.id, at.tail);
            ++done_.topics;
            copy_messages(name, at, space);
            copy_groups(name, at, space);
        }
        if (into_.ok()) spaces_.set_counts(space);
    }

    void copy_messages(const std::string& name_space, const topic& at, lease::space_row& space) {
        statement list(from_,
                       "SELECT sequence, message_id, event_kind, content_type, headers_json, payload, "
                       "published_at_ms, idempotency_key, fingerprint FROM rullst_messaging_messages "
                       "WHERE namespace = ?1 AND topic = ?2 ORDER BY sequence");
        auto rows = list.query(std::string_view(name_space), std::string_view(at.name));
        while (rows.next() && into_.ok()) {
            const auto id = message_id::parse(rows.text(1));
            auto headers = lease::parse_headers_json(rows.text(4));
            if (!id || !headers || !is_sequence(at, rows.number(0))) {
                return into_.fail(lease::damaged(from_, "a message's identifier, sequence or headers"));
            }
            const auto payload = rows.blob(5);
            lease_message message{at.name,
                                  std::string(rows.text(2)),
                                  std::string(rows.text(7)),
                                  std::string(rows.text(3)),
                                  std::move(*headers),
                                  {reinterpret_cast<const char*>(payload.data()), payload.size()}};
            if (!std::ranges::equal(detail::fingerprint_of(message), rows.blob(8))) {
                return into_.fail(lease::damaged(from_, "publication fingerprint"));
            }
            const auto content = lease::encode_record(message.headers, message.payload);
            const auto row = at.base() + rows.number(0);
            add_message_.run(row, lease::as_blob(id->bytes()), rows.text(2), rows.text(3), rows.text(7), rows.blob(8),
                             rows.number(6), std::as_bytes(std::span(content)));
            add_key_.run(detail::key_hash(at.name, rows.text(7)), row);
            ++space.retained;
            space.content_bytes += static_cast<std::int64_t>(content.size());
            ++done_.messages;
        }
    }

    static bool is_sequence(const topic& of, std::int64_t number) {
        return number >= 1 && number <= of.tail - of.base();
    }

    void copy_groups(const std::string& name_space, const topic& at, lease::space_row& space) {
        statement list(from_,
                       "SELECT group_name FROM rullst_messaging_subscriptions WHERE namespace = ?1 AND topic = ?2");
        auto rows = list.query(std::string_view(name_space), std::string_view(at.name));
        while (rows.next() && into_.ok()) {
            const std::string group(rows.text(0));
            // Each message has a row there; here what has none below the cursor is finished.
            add_group_.run(at.id, std::string_view(group), at.tail);
            ++space.subscriptions;
            ++done_.groups;
            copy_deliveries(name_space, at, group, sqlite3_last_insert_rowid(into_.handle()));
        }
    }

    void copy_deliveries(const std::string& name_space, const topic& at, const std::string& group, std::int64_t id) {
        statement list(from_,
                       "SELECT sequence, state, coalesce(available_at_ms, 0), attempt, ack_token, "
                       "coalesce(consumer_name, ''), coalesce(lease_expires_at_ms, 0), coalesce(failure_code, ''), "
                       "coalesce(dead_lettered_at_ms, 0) FROM rullst_messaging_deliveries "
                       "WHERE namespace = ?1 AND topic = ?2 AND group_name = ?3 AND state <> 'acked'");
        auto rows = list.query(std::string_view(name_space), std::string_view(at.name), std::string_view(group));
        while (rows.next() && into_.ok()) {
            using state = lease::delivery_state;
            if (!is_sequence(at, rows.number(0))) return into_.fail(lease::damaged(from_, "a delivery's sequence"));
            auto what = state::waiting;
            auto when = rows.number(2);
            std::optional<sqlite_backend::blob_view> token;
            const auto held =
                rows.is_null(4) ? result<lease_token>(error(errc::unknown_lease)) : lease_token::parse(rows.text(4));
            if (rows.text(1) == "dead") {
                what = state::dead;
                when = rows.number(8);
            } else if (rows.text(1) == "in_flight") {
                if (!held) return into_.fail(lease::damaged(from_, "a lease's token"));
                what = state::leased;
                // Leases end by the machine's uptime here.
                constexpr std::int64_t longest_ms = 3'600'000;
                const auto ends = std::clamp(rows.number(6), wall_ms_, wall_ms_ + longest_ms);
                when = steady_us_ + (ends - wall_ms_) * 1000;
                token = lease::as_blob(held->bytes());
            }
            add_delivery_.run(id, at.base() + rows.number(0), static_cast<std::int64_t>(what), when, rows.number(3),
                              token, rows.text(5), rows.text(7));
            ++done_.deliveries;
        }
    }

    static std::int64_t count_of(auto since, auto unit) {
        return std::chrono::duration_cast<decltype(unit)>(since).count();
    }

    database& from_;
    database& into_;
    lease::space_table spaces_;
    statement add_topic_;
    statement set_tail_;
    statement add_group_;
    statement add_message_;
    statement add_key_;
    statement add_delivery_;
    const std::int64_t wall_ms_ = count_of(std::chrono::system_clock::now().time_since_epoch(), milliseconds());
    const std::int64_t steady_us_ =
        count_of(std::chrono::steady_clock::now().time_since_epoch(), std::chrono::microseconds());
    lease_import_report done_;
};

}  // namespace

result<lease_import_report> import_rullst_messaging(const std::filesystem::path& from,
                                                    const std::filesystem::path& into) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(from, failed)) return lease::no_such_file(from);
    database source({from, database::access::read_only});
    source.run("BEGIN");
    const auto theirs = source.number("SELECT count(*) FROM sqlite_schema WHERE name = 'rullst_messaging_brokers'");
    if (!source.ok()) return source.failure();
    if (theirs == 0) {
        return error(errc::invalid_argument, "'" + from.string() + "' is no file of rullst-messaging");
    }
    auto file = sqlite_backend::open_file({into}, true, 0);
    if (!file) return file.error();
    auto& db = *file->connection;
    db.run("BEGIN IMMEDIATE");
    lease::note_boot(db);
    rullst_import copying(source, db);
    copying.run();
    if (!source.ok()) db.fail(source.failure());
    if (const auto done = lease::end_transaction(db); !done) return done.error();
    return copying.report();
}

}  // namespace shove
