#include "schema.hpp"

#include <array>
#include <string>
#include <thread>

namespace shove::sqlite_backend {

namespace {

/// Version 1: a log of messages with reader groups. See README.md for the reasons.
constexpr const char* version_1 = R"sql(
CREATE TABLE store (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    boot_id TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE queue (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    dead_letter_queue TEXT,
    tail INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE reader_group (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    queue_id INTEGER NOT NULL REFERENCES queue (id),
    name TEXT NOT NULL,
    cursor INTEGER NOT NULL,
    gaps INTEGER NOT NULL DEFAULT 0,
    suspect_below INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    UNIQUE (queue_id, name)
) STRICT;

CREATE TABLE message (
    seq INTEGER PRIMARY KEY,
    id TEXT,
    key TEXT,
    type TEXT,
    content_type TEXT,
    published_at INTEGER,
    expires_at INTEGER,
    headers BLOB,
    payload BLOB NOT NULL
) STRICT;

CREATE TABLE history (
    group_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    retries INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    first_error TEXT NOT NULL DEFAULT '',
    last_error TEXT NOT NULL DEFAULT '',
    first_failed_at INTEGER NOT NULL DEFAULT 0,
    last_failed_at INTEGER NOT NULL DEFAULT 0,
    death_reason TEXT NOT NULL DEFAULT '',
    original_queue TEXT NOT NULL DEFAULT '',
    death_count INTEGER NOT NULL DEFAULT 0,
    dead_at INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (group_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE parked (
    group_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    deliveries INTEGER NOT NULL,
    maybe_handled INTEGER NOT NULL,
    PRIMARY KEY (group_id, seq)
) STRICT, WITHOUT ROWID;

CREATE INDEX parked_by_due ON parked (group_id, due_at);

CREATE TABLE owner (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    process INTEGER NOT NULL,
    opened_at INTEGER NOT NULL
) STRICT;

CREATE TABLE lease (
    owner INTEGER NOT NULL,
    tag INTEGER NOT NULL,
    group_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    deliveries INTEGER NOT NULL,
    maybe_handled INTEGER NOT NULL,
    solo INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    PRIMARY KEY (owner, tag)
) STRICT, WITHOUT ROWID;
)sql";

/// Version 2: sequenced topics: who reads a shard, which keys are poisoned, and until when a message that keeps its
/// place waits. Reader groups and broadcasts: which queues get a copy of what is published to another one.
constexpr const char* version_2 = R"sql(
ALTER TABLE history ADD COLUMN not_before INTEGER NOT NULL DEFAULT 0;

CREATE TABLE shard (
    group_id INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    hold_until INTEGER NOT NULL
) STRICT;

CREATE TABLE poisoned_key (
    group_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (group_id, key)
) STRICT, WITHOUT ROWID;

ALTER TABLE queue ADD COLUMN broadcast INTEGER NOT NULL DEFAULT 0;

CREATE TABLE feed (
    feed_id INTEGER PRIMARY KEY,
    queue_id INTEGER NOT NULL,
    owner INTEGER NOT NULL
) STRICT;

CREATE INDEX feed_by_queue ON feed (queue_id);
)sql";

/// Version 3: leases by hand (docs/guide/leases.md): namespaces with their limits, topics, groups, messages, their
/// keys, and what is not simply "not started" or "finished" of a message for a group.
constexpr const char* version_3 = R"sql(
CREATE TABLE lease_store (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    boot_id TEXT NOT NULL
) STRICT;

INSERT INTO lease_store VALUES (1, '');

CREATE TABLE lease_space (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    max_retained INTEGER NOT NULL,
    max_subscriptions INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    max_payload_bytes INTEGER NOT NULL,
    profile TEXT NOT NULL,
    probe BLOB NOT NULL,
    fingerprint_key BLOB NOT NULL,
    retained INTEGER NOT NULL DEFAULT 0 CHECK (retained >= 0),
    content_bytes INTEGER NOT NULL DEFAULT 0 CHECK (content_bytes >= 0),
    subscriptions INTEGER NOT NULL DEFAULT 0 CHECK (subscriptions >= 0)
) STRICT;

CREATE TABLE lease_topic (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    space_id INTEGER NOT NULL REFERENCES lease_space (id),
    name TEXT NOT NULL,
    tail INTEGER NOT NULL,
    UNIQUE (space_id, name)
) STRICT;

CREATE TABLE lease_group (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    topic_id INTEGER NOT NULL REFERENCES lease_topic (id),
    name TEXT NOT NULL,
    cursor INTEGER NOT NULL,
    UNIQUE (topic_id, name)
) STRICT;

CREATE TABLE lease_message (
    seq INTEGER PRIMARY KEY,
    id BLOB NOT NULL CHECK (length(id) = 16),
    event_kind TEXT NOT NULL,
    content_type TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
    published_at_ms INTEGER NOT NULL CHECK (published_at_ms >= 0),
    seal TEXT NOT NULL,
    content BLOB NOT NULL
) STRICT;

CREATE TABLE lease_key (
    hash INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (hash, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE lease_delivery (
    group_id INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state IN (0, 1, 2)),
    at INTEGER NOT NULL,
    attempts INTEGER NOT NULL CHECK (attempts >= 0),
    token BLOB CHECK ((token IS NOT NULL) = (state = 1)),
    consumer TEXT NOT NULL,
    code TEXT NOT NULL,
    PRIMARY KEY (group_id, seq)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX lease_by_token ON lease_delivery (token) WHERE token IS NOT NULL;
CREATE INDEX lease_by_state ON lease_delivery (group_id, state, at);
)sql";

/// Step `n` leads from version `n` to version `n + 1`. Steps are only ever added.
constexpr std::array<const char*, schema_version> steps{version_1, version_2, version_3};

std::string quoted(const database& db) {
    return "'" + db.path().string() + "'";
}

bool is_empty(database& db) {
    return db.number("SELECT count(*) FROM sqlite_schema") == 0;
}

/// The switch to the write-ahead log does not use SQLite's busy handler, so wait here.
void use_write_ahead_log(database& db) {
    using namespace std::chrono;
    const auto give_up = steady_clock::now() + seconds(10);
    for (;;) {
        const auto mode = db.text("PRAGMA journal_mode = WAL");
        if (db.ok() && mode == "wal") return;
        const bool busy = db.failure() == errc::storage_busy;
        if (!busy && db.ok()) {
            return db.fail({errc::unsupported, quoted(db) + " cannot have a write-ahead log (journal mode '" + mode +
                                                   "'): put it on a local disk"});
        }
        if (!busy || steady_clock::now() >= give_up) return;
        db.clear_failure();
        std::this_thread::sleep_for(milliseconds(2));
    }
}

/// The check itself; the caller's transaction makes the three answers belong together.
void check_what_is_there(database& db) {
    const auto id = db.number("PRAGMA application_id");
    const auto version = db.number("PRAGMA user_version");
    if (!db.ok()) return;
    if (id == 0 && version == 0 && is_empty(db)) return;
    if (!db.ok()) return;
    if (id == 0 && db.number("SELECT count(*) FROM sqlite_schema WHERE name = 'rullst_messaging_brokers'") > 0) {
        return db.fail({errc::invalid_argument, quoted(db) +
                                                    " is a file of rullst-messaging; copy it into a store with `shove "
                                                    "store import`"});
    }
    if (!db.ok()) return;
    if (id != application_id) {
        return db.fail({errc::invalid_argument, quoted(db) +
                                                    " is an SQLite file of another application (application id " +
                                                    std::to_string(id) + "); name another file"});
    }
    if (version > schema_version || version < 1) {
        db.fail({errc::version_mismatch, quoted(db) + " has schema version " + std::to_string(version) +
                                             ", this shove supports up to " + std::to_string(schema_version) +
                                             "; use a newer shove or another file"});
    }
}

}  // namespace

void check_identity(database& db) {
    // One transaction: another process may be writing the very first schema between two statements.
    db.run("BEGIN");
    check_what_is_there(db);
    if (db.in_transaction()) sqlite3_exec(db.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void migrate(database& db, std::string_view boot_id, std::int64_t now_us) {
    db.run("BEGIN IMMEDIATE");
    check_what_is_there(db);
    const auto found = static_cast<int>(db.number("PRAGMA user_version"));
    for (int version = found; db.ok() && version < schema_version; ++version) {
        db.run(steps[static_cast<std::size_t>(version)]);
    }
    if (found == 0 && db.ok()) {
        statement(db, "INSERT INTO store VALUES (1, ?1, ?2)").run(boot_id, now_us);
        db.run(("PRAGMA application_id = " + std::to_string(application_id)).c_str());
    }
    if (found != schema_version) db.run(("PRAGMA user_version = " + std::to_string(schema_version)).c_str());
    db.run("COMMIT");
    if (!db.ok() && db.in_transaction()) sqlite3_exec(db.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void configure(database& db, bool full_durability) {
    use_write_ahead_log(db);
    db.run(full_durability ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    db.run("PRAGMA foreign_keys = ON");
    db.run("PRAGMA wal_autocheckpoint = 4000");
    db.run("PRAGMA journal_size_limit = 67108864");
    db.run("PRAGMA cache_size = -16384");
    db.run("PRAGMA temp_store = MEMORY");
    db.run("PRAGMA secure_delete = FAST");
}

}  // namespace shove::sqlite_backend
