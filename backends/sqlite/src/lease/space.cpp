#include "space.hpp"

#include "../owners_file.hpp"

namespace shove::sqlite_backend::lease {

namespace {

std::string_view as_text(blob_view bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

blob_view as_blob(std::string_view text) {
    return std::as_bytes(std::span(text));
}

}  // namespace

error damaged(const database& db, std::string_view what) {
    return {errc::storage_corrupt, "'" + db.path().string() + "': " + std::string(what) +
                                       " is damaged; `shove store check` says more, a backup restores it"};
}

void note_boot(database& db) {
    const auto boot = current_boot_id();
    if (statement(db, "SELECT 1 FROM lease_store WHERE boot_id = ?1").query(std::string_view(boot)).next()) return;
    statement(db, "UPDATE lease_delivery SET at = 0 WHERE state = 1").run();
    statement(db, "UPDATE lease_store SET boot_id = ?1").run(std::string_view(boot));
}

void expect_one(database& db, std::int64_t changed, std::string_view what) {
    if (db.ok() && changed != 1) db.fail(damaged(db, what));
}

space_table::space_table(database& db)
    : db_(&db),
      find_(db,
            "SELECT id, max_retained, max_subscriptions, max_attempts, max_payload_bytes, profile, probe, "
            "fingerprint_key, retained, content_bytes, subscriptions FROM lease_space WHERE name = ?1"),
      insert_(db,
              "INSERT INTO lease_space (name, max_retained, max_subscriptions, max_attempts, max_payload_bytes, "
              "profile, probe, fingerprint_key) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"),
      set_profile_(db, "UPDATE lease_space SET profile = ?2, probe = ?3, fingerprint_key = ?4 WHERE id = ?1"),
      set_limits_(db,
                  "UPDATE lease_space SET max_retained = ?2, max_subscriptions = ?3, max_attempts = ?4, "
                  "max_payload_bytes = ?5 WHERE id = ?1"),
      set_counts_(db, "UPDATE lease_space SET retained = ?2, content_bytes = ?3, subscriptions = ?4 WHERE id = ?1"),
      read_(db,
            "SELECT retained, content_bytes, subscriptions, max_retained, max_subscriptions, max_attempts "
            "FROM lease_space WHERE id = ?1") {}

std::optional<space_row> space_table::find(std::string_view name) {
    auto rows = find_.query(name);
    if (!rows.next()) return std::nullopt;
    space_row row;
    row.id = rows.number(0);
    row.limits.retained_messages = static_cast<std::uint64_t>(rows.number(1));
    row.limits.subscriptions = static_cast<std::uint32_t>(rows.number(2));
    row.limits.attempts = static_cast<std::uint32_t>(rows.number(3));
    row.limits.payload_bytes = static_cast<std::size_t>(rows.number(4));
    row.profile = {std::string(rows.text(5)), std::string(as_text(rows.blob(6))), std::string(as_text(rows.blob(7)))};
    row.retained = rows.number(8);
    row.content_bytes = rows.number(9);
    row.subscriptions = rows.number(10);
    return row;
}

std::int64_t space_table::insert(std::string_view name, const lease_limits& limits, const sealer_state& profile) {
    insert_.run(name, limits.retained_messages, limits.subscriptions, limits.attempts, limits.payload_bytes,
                std::string_view(profile.profile), as_blob(profile.probe), as_blob(profile.fingerprint_key));
    return db_->ok() ? sqlite3_last_insert_rowid(db_->handle()) : 0;
}

void space_table::set_profile(std::int64_t id, const sealer_state& profile) {
    expect_one(*db_,
               set_profile_.run(id, std::string_view(profile.profile), as_blob(profile.probe),
                                as_blob(profile.fingerprint_key)),
               "a namespace's profile");
}

void space_table::set_limits(std::int64_t id, const lease_limits& limits) {
    expect_one(
        *db_,
        set_limits_.run(id, limits.retained_messages, limits.subscriptions, limits.attempts, limits.payload_bytes),
        "a namespace's limits");
}

void space_table::set_counts(const space_row& of) {
    expect_one(*db_, set_counts_.run(of.id, of.retained, of.content_bytes, of.subscriptions), "a namespace's counts");
}

void space_table::refresh(space_row& into) {
    auto rows = read_.query(into.id);
    if (!rows.next()) return db_->fail(damaged(*db_, "a namespace"));
    into.retained = rows.number(0);
    into.content_bytes = rows.number(1);
    into.subscriptions = rows.number(2);
    into.limits.retained_messages = static_cast<std::uint64_t>(rows.number(3));
    into.limits.subscriptions = static_cast<std::uint32_t>(rows.number(4));
    into.limits.attempts = static_cast<std::uint32_t>(rows.number(5));
}

}  // namespace shove::sqlite_backend::lease
