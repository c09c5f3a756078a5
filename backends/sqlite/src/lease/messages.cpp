#include "messages.hpp"

#include "record.hpp"
#include "space.hpp"

#include <shove/detail/lease_rules.hpp>

#include <algorithm>
#include <utility>

namespace shove::sqlite_backend::lease {

namespace {

/// True for a message that some group of the topic (?1) has in the given states.
std::string held_in(std::string_view states) {
    return "EXISTS (SELECT 1 FROM lease_group g JOIN lease_delivery d ON d.group_id = g.id AND d.seq = m.seq "
           "WHERE g.topic_id = ?1 AND d.state IN (" +
           std::string(states) + "))";
}

/// Rows of a range, with what removing them needs to know.
std::string rows_of(std::string_view held, std::string_view where) {
    return "SELECT m.seq, length(m.content), m.key, m.published_at_ms, " + std::string(held) +
           " FROM lease_message m WHERE m.seq > ?2 AND m.seq <= ?3" + std::string(where) + " ORDER BY m.seq LIMIT ?4";
}

void take_all(statement::rows& rows, std::vector<message_log::purgeable>& into) {
    while (rows.next())
        into.push_back(
            {rows.number(0), rows.number(1), std::string(rows.text(2)), rows.number(3), rows.number(4) != 0});
}

}  // namespace

std::optional<std::array<std::byte, 16>> read_16(blob_view from) {
    std::array<std::byte, 16> bytes{};
    if (from.size() != bytes.size()) return std::nullopt;
    std::ranges::copy(from, bytes.begin());
    return bytes;
}

message_log::message_log(database& db, sealer& seal, std::string name_space)
    : db_(&db),
      seal_(&seal),
      name_space_(std::move(name_space)),
      insert_(db,
              "INSERT INTO lease_message (seq, id, event_kind, content_type, key, fingerprint, published_at_ms, seal, "
              "content) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"),
      insert_key_(db, "INSERT INTO lease_key (hash, seq) VALUES (?1, ?2)"),
      candidates_(db,
                  "SELECT m.key, m.id, m.fingerprint, m.published_at_ms FROM lease_key k JOIN lease_message m "
                  "ON m.seq = k.seq WHERE k.hash = ?1 AND k.seq > ?2 AND k.seq <= ?3"),
      read_(db, "SELECT id, event_kind, content_type, published_at_ms, content FROM lease_message WHERE seq = ?1"),
      rows_(db, "SELECT seq FROM lease_message WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3"),
      count_(db, "SELECT count(*) FROM lease_message WHERE seq > ?1 AND seq <= ?2"),
      first_since_(db,
                   "SELECT seq FROM lease_message WHERE seq > ?1 AND seq <= ?2 AND published_at_ms >= ?3 "
                   "ORDER BY seq LIMIT 1"),
      oldest_(db, "SELECT published_at_ms FROM lease_message WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT 1"),
      finished_(db, rows_of("0", " AND NOT " + held_in("0, 1"))),
      window_(db, rows_of(held_in("0, 1, 2"), "")),
      remove_(db, "DELETE FROM lease_message WHERE seq = ?1"),
      remove_key_(db, "DELETE FROM lease_key WHERE hash = ?1 AND seq = ?2"),
      sealed_by_others_(db,
                        "SELECT seq, id, event_kind, content_type, published_at_ms, content FROM lease_message "
                        "WHERE seq > ?1 AND seq <= ?2 AND seal <> ?3 ORDER BY seq LIMIT ?4"),
      reseal_(db, "UPDATE lease_message SET seal = ?2, content = ?3 WHERE seq = ?1") {}

std::optional<message_log::known> message_log::by_key(const topic_state& topic, std::string_view topic_name,
                                                      std::string_view key) {
    auto rows = candidates_.query(detail::key_hash(topic_name, key), topic.base(), topic.tail);
    while (rows.next()) {
        if (rows.text(0) != key) continue;  // another key of the same hash
        known found;
        const auto id = read_16(rows.blob(1));
        const auto content = rows.blob(2);
        found.published_at_ms = rows.number(3);
        if (!id || content.size() != found.content.size() || found.published_at_ms < 0) {
            db_->fail(damaged(*db_, "publication fingerprint"));
            return std::nullopt;
        }
        found.id = message_id(*id);
        std::ranges::copy(content, found.content.begin());
        return found;
    }
    return std::nullopt;
}

std::int64_t message_log::insert(std::int64_t row, const message_id& id, std::int64_t now_ms,
                                 const spi::lease_publish& what, std::string_view topic_name, std::uint64_t sequence) {
    const auto& message = what.message;
    const auto id_text = id.text();
    const record_identity identity{name_space_, topic_name,         static_cast<std::int64_t>(sequence),
                                   id_text,     message.event_kind, message.content_type,
                                   now_ms};
    const auto stored = seal_->seal(identity, encode_record(message.headers, message.payload));
    const auto content = seal_->fingerprint(what.content);
    if (!stored || !content) {
        db_->fail(!stored ? stored.error() : content.error());
        return 0;
    }
    insert_.run(row, as_blob(id.bytes()), std::string_view(message.event_kind), std::string_view(message.content_type),
                std::string_view(message.idempotency_key), blob_view(*content), now_ms, std::string_view(stored->key),
                std::as_bytes(std::span(stored->blob)));
    insert_key_.run(detail::key_hash(topic_name, message.idempotency_key), row);
    return static_cast<std::int64_t>(stored->blob.size());
}

message_log::envelope message_log::read(const topic_state& topic, const std::string& topic_name, std::int64_t row) {
    auto rows = read_.query(row);
    if (!rows.next()) {
        db_->fail(damaged(*db_, "a message that a group waits for"));
        return nullptr;
    }
    const auto id = read_16(rows.blob(0));
    const auto published = rows.number(3);
    if (!id || published < 0) {
        db_->fail(damaged(*db_, id ? "publication timestamp" : "message identifier"));
        return nullptr;
    }
    lease_envelope made;
    made.id = message_id(*id);
    made.name_space = name_space_;
    made.topic = topic_name;
    made.event_kind = rows.text(1);
    made.content_type = rows.text(2);
    made.published_at = detail::from_ms(published);
    made.sequence = topic.sequence_of(row);
    const auto id_text = made.id.text();
    const record_identity identity{name_space_, topic_name,      static_cast<std::int64_t>(made.sequence),
                                   id_text,     made.event_kind, made.content_type,
                                   published};
    const auto blob = rows.blob(4);
    const auto clear = seal_->open(identity, {reinterpret_cast<const char*>(blob.data()), blob.size()});
    auto parts = clear ? decode_record(*clear) : clear.error();
    if (!parts) {
        db_->fail(parts.error());
        return nullptr;
    }
    made.headers = std::move(parts->headers);
    made.payload = std::move(parts->payload);
    if (auto wrong = detail::check_stored(made)) {
        db_->fail(damaged(*db_, wrong.detail));
        return nullptr;
    }
    return std::make_shared<const lease_envelope>(std::move(made));
}

std::vector<std::int64_t> message_log::rows_between(std::int64_t after, std::int64_t last, std::size_t most) {
    std::vector<std::int64_t> found;
    auto rows = rows_.query(after, last, most);
    while (rows.next())
        found.push_back(rows.number(0));
    return found;
}

std::int64_t message_log::count(std::int64_t after, std::int64_t last) {
    auto rows = count_.query(after, last);
    return rows.next() ? rows.number(0) : 0;
}

std::optional<std::int64_t> message_log::first_since(std::int64_t after, std::int64_t last, std::int64_t ms) {
    auto rows = first_since_.query(after, last, ms);
    return rows.next() ? std::optional(rows.number(0)) : std::nullopt;
}

std::optional<std::int64_t> message_log::oldest(std::int64_t after, std::int64_t last) {
    auto rows = oldest_.query(after, last);
    return rows.next() ? std::optional(rows.number(0)) : std::nullopt;
}

std::vector<message_log::purgeable> message_log::finished(const topic_state& topic, std::int64_t last,
                                                          std::size_t most) {
    std::vector<purgeable> found;
    auto rows = finished_.query(topic.id, topic.base(), last, most);
    take_all(rows, found);
    return found;
}

std::vector<message_log::purgeable> message_log::window(const topic_state& topic, std::int64_t after, std::int64_t last,
                                                        std::size_t most) {
    std::vector<purgeable> found;
    auto rows = window_.query(topic.id, after, last, most);
    take_all(rows, found);
    return found;
}

void message_log::remove(std::string_view topic_name, const purgeable& what) {
    expect_one(*db_, remove_.run(what.row), "terminal message purge");
    expect_one(*db_, remove_key_.run(detail::key_hash(topic_name, what.key), what.row), "a message's key");
}

std::vector<message_log::sample> message_log::samples(database& db, std::int64_t space) {
    // Grouped by the key that sealed them: one row of each.
    statement find(db,
                   "SELECT t.name, m.seq - (t.id << 44), m.id, m.event_kind, m.content_type, m.published_at_ms, "
                   "m.content, min(m.seq) FROM lease_topic t JOIN lease_message m ON m.seq > (t.id << 44) AND "
                   "m.seq <= t.tail WHERE t.space_id = ?1 AND m.seal <> '' GROUP BY m.seal");
    std::vector<sample> found;
    auto rows = find.query(space);
    while (rows.next()) {
        const auto id = read_16(rows.blob(2));
        const auto blob = rows.blob(6);
        if (!id) {
            db.fail(damaged(db, "message identifier"));
            break;
        }
        found.push_back(
            {std::string(rows.text(0)), message_id(*id).text(), std::string(rows.text(3)), std::string(rows.text(4)),
             std::string(reinterpret_cast<const char*>(blob.data()), blob.size()), rows.number(1), rows.number(5)});
    }
    return found;
}

}  // namespace shove::sqlite_backend::lease
