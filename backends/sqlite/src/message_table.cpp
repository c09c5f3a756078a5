#include "message_table.hpp"

#include <string>

namespace shove::sqlite_backend {

namespace {

std::optional<std::string_view> unless_empty(std::string_view text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

std::optional<std::int64_t> unless_unknown(wall_time t) {
    return t == wall_time{} ? std::nullopt : std::optional(to_microseconds(t));
}

blob_view as_blob(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

message damaged(database& db, std::int64_t seq, std::string_view what) {
    std::string text = "'" + db.path().string() + "': message " + std::to_string(seq) + " is damaged (";
    db.fail({errc::storage_corrupt, text.append(what).append("); restore the file or remove that message")});
    return {};
}

}  // namespace

std::int64_t to_microseconds(wall_time t) noexcept {
    return t.time_since_epoch().count();
}

wall_time from_microseconds(std::int64_t us) noexcept {
    return wall_time(std::chrono::microseconds(us));
}

message read_message(database& db, const statement::rows& row) {
    const auto encoded = row.blob(7);
    const std::string_view headers(reinterpret_cast<const char*>(encoded.data()), encoded.size());
    if (!headers.empty() && !headers::well_formed(headers)) return damaged(db, row.number(0), "headers");
    message_parts parts;
    parts.id = row.text(1);
    if (!row.is_null(2)) parts.key = row.text(2);
    parts.type = row.text(3);
    parts.content_type = row.text(4);
    parts.published_at = from_microseconds(row.number(5));
    parts.expires_at = from_microseconds(row.number(6));
    parts.headers = headers_view(headers);
    parts.payload = row.blob(8);
    try {
        return message::make(parts);
    } catch (const exception& e) {
        return damaged(db, row.number(0), e.what());
    }
}

std::unique_ptr<spi::history> read_history(const statement::rows& row) {
    int column = history_begins;
    if (row.is_null(column)) return nullptr;
    auto past = std::make_unique<spi::history>();
    past->retries = static_cast<std::uint32_t>(row.number(column++));
    past->crashes = static_cast<std::uint32_t>(row.number(column++));
    past->first_error = row.text(column++);
    past->last_error = row.text(column++);
    past->first_failed_at = from_microseconds(row.number(column++));
    past->last_failed_at = from_microseconds(row.number(column++));
    past->death_reason = row.text(column++);
    past->original_queue = row.text(column++);
    past->death_count = static_cast<std::uint32_t>(row.number(column++));
    past->dead_at = from_microseconds(row.number(column++));
    return past;
}

wall_time read_not_before(const statement::rows& row) {
    constexpr int column = extra_columns_begin - 1;
    return row.is_null(column) ? wall_time{} : from_microseconds(row.number(column));
}

message_table::message_table(database& db)
    : insert_(db, "INSERT INTO message VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"),
      remove_(db, "DELETE FROM message WHERE seq = ?1"),
      exists_(db, "SELECT 1 FROM message WHERE seq = ?1"),
      copy_(db,
            "INSERT INTO message SELECT ?2, id, key, type, content_type, published_at, expires_at, headers, payload "
            "FROM message WHERE seq = ?1") {}

void message_table::insert(std::int64_t seq, const message& what) {
    id_buffer buffer;
    const auto encoded = what.headers().encoded();
    insert_.run(seq, unless_empty(what.id(buffer)), what.key(), unless_empty(what.type()),
                unless_empty(what.content_type()), unless_unknown(what.published_at()),
                unless_unknown(what.expires_at()), encoded.empty() ? std::nullopt : std::optional(as_blob(encoded)),
                what.payload());
}

bool message_table::exists(std::int64_t seq) {
    return exists_.query(seq).next();
}

history_table::history_table(database& db)
    : put_(db, "INSERT OR REPLACE INTO history VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"),
      remove_(db, "DELETE FROM history WHERE group_id = ?1 AND seq = ?2"),
      add_crash_(db,
                 "INSERT INTO history (group_id, seq, crashes) VALUES (?1, ?2, 1) "
                 "ON CONFLICT (group_id, seq) DO UPDATE SET crashes = crashes + 1") {}

void history_table::put(std::int64_t group, std::int64_t seq, const spi::history& past, std::int64_t not_before) {
    put_.run(group, seq, past.retries, past.crashes, past.first_error, past.last_error,
             to_microseconds(past.first_failed_at), to_microseconds(past.last_failed_at), past.death_reason,
             past.original_queue, past.death_count, to_microseconds(past.dead_at), not_before);
}

}  // namespace shove::sqlite_backend
