#include "deliveries.hpp"

#include "messages.hpp"
#include "space.hpp"

namespace shove::sqlite_backend::lease {

delivery_table::delivery_table(database& db)
    : db_(&db),
      by_token_(db,
                "SELECT d.group_id, d.seq, t.space_id, d.at, d.attempts FROM lease_delivery d JOIN lease_group g ON "
                "g.id = d.group_id JOIN lease_topic t ON t.id = g.topic_id WHERE d.token = ?1"),
      // With `at = 0` the index gives what is due in order of its numbers, however much that is.
      ready_(db,
             "SELECT seq, attempts FROM lease_delivery WHERE group_id = ?1 AND state = 0 AND at = 0 ORDER BY seq "
             "LIMIT ?2"),
      ended_(db, "SELECT seq, attempts FROM lease_delivery WHERE group_id = ?1 AND state = 1 AND at <= ?2"),
      wake_(db, "UPDATE lease_delivery SET at = 0 WHERE group_id = ?1 AND state = 0 AND at > 0 AND at <= ?2"),
      insert_(db,
              "INSERT INTO lease_delivery (group_id, seq, state, at, attempts, token, consumer, code) "
              "VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, '')"),
      again_(db,
             "UPDATE lease_delivery SET state = 1, at = ?3, attempts = ?4, token = ?5, consumer = ?6 "
             "WHERE group_id = ?1 AND seq = ?2 AND state = 0"),
      extend_(db, "UPDATE lease_delivery SET at = ?3 WHERE group_id = ?1 AND seq = ?2 AND state = 1"),
      finish_(db, "DELETE FROM lease_delivery WHERE group_id = ?1 AND seq = ?2 AND state = 1"),
      wait_(db,
            "UPDATE lease_delivery SET state = 0, at = ?3, code = ?4, token = NULL "
            "WHERE group_id = ?1 AND seq = ?2 AND state = 1"),
      bury_(db,
            "UPDATE lease_delivery SET state = 2, at = ?4, code = ?3, token = NULL "
            "WHERE group_id = ?1 AND seq = ?2 AND state < 2"),
      redrive_(db,
               "UPDATE lease_delivery SET state = 0, at = 0, attempts = 0, consumer = '', code = '' "
               "WHERE group_id = ?1 AND seq = ?2 AND state = 2"),
      dead_rows_(db, "SELECT seq FROM lease_delivery WHERE group_id = ?1 AND state = 2 ORDER BY seq LIMIT ?2"),
      letters_(db,
               "SELECT seq, at, attempts, consumer, code FROM lease_delivery WHERE group_id = ?1 AND seq > ?2 AND "
               "state = 2 ORDER BY seq LIMIT ?3"),
      forget_message_(db,
                      "DELETE FROM lease_delivery WHERE seq = ?2 AND group_id IN (SELECT id FROM lease_group WHERE "
                      "topic_id = ?1)"),
      forget_group_(db, "DELETE FROM lease_delivery WHERE group_id = ?1"),
      count_(db, "SELECT count(*) FROM lease_delivery WHERE group_id = ?1 AND state = ?2"),
      next_(db, "SELECT min(at) FROM lease_delivery WHERE group_id = ?1 AND state = ?2") {}

std::optional<delivery_table::row> delivery_table::by_token(const lease_token& token) {
    auto rows = by_token_.query(as_blob(token.bytes()));
    if (!rows.next()) return std::nullopt;
    return row{rows.number(0), rows.number(1), rows.number(2), rows.number(3), rows.number(4)};
}

std::vector<delivery_table::waiting> delivery_table::ready(std::int64_t group, std::size_t most) {
    std::vector<waiting> found;
    auto rows = ready_.query(group, most);
    while (rows.next())
        found.push_back({rows.number(0), rows.number(1)});
    return found;
}

std::vector<delivery_table::waiting> delivery_table::ended(std::int64_t group, std::int64_t steady_us) {
    std::vector<waiting> found;
    auto rows = ended_.query(group, steady_us);
    while (rows.next())
        found.push_back({rows.number(0), rows.number(1)});
    return found;
}

void delivery_table::wake(std::int64_t group, std::int64_t now_ms) {
    wake_.run(group, now_ms);
}

void delivery_table::lease(std::int64_t group, std::int64_t seq, bool first, std::int64_t attempts,
                           const lease_token& token, std::string_view consumer, std::int64_t until_us) {
    auto& how = first ? insert_ : again_;
    expect_one(*db_, how.run(group, seq, until_us, attempts, as_blob(token.bytes()), consumer),
               "pending delivery claim");
}

void delivery_table::extend(std::int64_t group, std::int64_t seq, std::int64_t until_us) {
    expect_one(*db_, extend_.run(group, seq, until_us), "a lease's extension");
}

void delivery_table::finish(std::int64_t group, std::int64_t seq) {
    expect_one(*db_, finish_.run(group, seq), "terminal delivery transition");
}

void delivery_table::wait(std::int64_t group, std::int64_t seq, std::int64_t due_ms, std::string_view code) {
    expect_one(*db_, wait_.run(group, seq, due_ms, code), "retry transition");
}

void delivery_table::bury(std::int64_t group, std::int64_t seq, std::string_view code, std::int64_t now_ms) {
    expect_one(*db_, bury_.run(group, seq, code, now_ms), "terminal delivery transition");
}

bool delivery_table::redrive(std::int64_t group, std::int64_t seq) {
    return redrive_.run(group, seq) == 1;
}

std::vector<std::int64_t> delivery_table::dead_rows(std::int64_t group, std::size_t most) {
    std::vector<std::int64_t> found;
    auto rows = dead_rows_.query(group, most);
    while (rows.next())
        found.push_back(rows.number(0));
    return found;
}

std::vector<delivery_table::letter> delivery_table::letters(std::int64_t group, std::int64_t after, std::size_t most) {
    std::vector<letter> found;
    auto rows = letters_.query(group, after, most);
    while (rows.next()) {
        found.push_back(
            {rows.number(0), rows.number(1), rows.number(2), std::string(rows.text(3)), std::string(rows.text(4))});
    }
    return found;
}

void delivery_table::forget_message(std::int64_t topic, std::int64_t seq) {
    forget_message_.run(topic, seq);
}

void delivery_table::forget_group(std::int64_t group) {
    forget_group_.run(group);
}

std::int64_t delivery_table::count(std::int64_t group, delivery_state state) {
    auto rows = count_.query(group, static_cast<std::int64_t>(state));
    return rows.next() ? rows.number(0) : 0;
}

std::optional<std::int64_t> delivery_table::next(std::int64_t group, delivery_state state) {
    auto rows = next_.query(group, static_cast<std::int64_t>(state));
    return rows.next() && !rows.is_null(0) ? std::optional(rows.number(0)) : std::nullopt;
}

}  // namespace shove::sqlite_backend::lease
