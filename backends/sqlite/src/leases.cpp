#include "leases.hpp"

namespace shove::sqlite_backend {

namespace {

std::vector<lease_table::taken_back> read_all(statement::rows& rows) {
    std::vector<lease_table::taken_back> found;
    while (rows.next()) {
        auto& one = found.emplace_back();
        one.what.owner = rows.number(0);
        one.what.tag = static_cast<std::uint64_t>(rows.number(1));
        one.what.group = rows.number(2);
        one.what.what.seq = rows.number(3);
        one.what.what.deliveries = static_cast<std::uint32_t>(rows.number(4));
        one.what.what.maybe_handled = rows.number(5) != 0;
        one.solo = rows.number(6) != 0;
        one.sharded = rows.number(7) != 0;
        if (one.sharded) one.key = rows.text(8);
    }
    return found;
}

}  // namespace

// `lease` holds no more rows than are in flight on the whole machine, and those that look for
// expired ones run about once a second; an index on `lease_until` would cost every claim and every
// settlement a tree operation.
lease_table::lease_table(database& db)
    : add_(db, "INSERT INTO lease VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7)"),
      remove_(db, "DELETE FROM lease WHERE owner = ?1 AND tag = ?2"),
      extend_(db, "UPDATE lease SET lease_until = ?3 WHERE owner = ?1 AND tag = ?2"),
      unmark_(db, "UPDATE lease SET solo = 0 WHERE owner = ?1 AND solo = 1"),
      mark_(db, "UPDATE lease SET solo = 1 WHERE owner = ?1 AND tag = ?2"),
      of_owner_(db,
                "SELECT l.owner, l.tag, l.group_id, l.seq, l.deliveries, l.maybe_handled, l.solo, "
                "s.group_id IS NOT NULL, (SELECT m.key FROM message m WHERE m.seq = l.seq) "
                "FROM lease l LEFT JOIN shard s ON s.group_id = l.group_id WHERE l.owner = ?1 ORDER BY l.seq"),
      expired_(db,
               "SELECT owner, tag, group_id, seq, deliveries, maybe_handled, solo, 0, NULL "
               "FROM lease WHERE lease_until <= ?1"),
      any_expired_(db, "SELECT 1 FROM lease WHERE lease_until <= ?1 LIMIT 1") {}

bool lease_table::isolate(std::int64_t owner, std::uint64_t tag) {
    unmark_.run(owner);
    return mark_.run(owner, static_cast<std::int64_t>(tag)) > 0;
}

std::vector<lease_table::taken_back> lease_table::of_owner(std::int64_t owner) {
    auto rows = of_owner_.query(owner);
    return read_all(rows);
}

std::vector<lease_table::taken_back> lease_table::expired(std::int64_t now) {
    auto rows = expired_.query(now);
    return read_all(rows);
}

bool lease_table::any_expired(std::int64_t now) {
    return any_expired_.query(now).next();
}

}  // namespace shove::sqlite_backend
