#include "shards.hpp"

namespace shove::sqlite_backend {

// Owner 0 is nobody: the row stays for its fence.
shard_table::shard_table(database& db)
    : find_(db, "SELECT owner, fence FROM shard WHERE group_id = ?1"),
      insert_(db, "INSERT INTO shard VALUES (?1, ?2, 1, ?3)"),
      take_(db, "UPDATE shard SET owner = ?2, fence = ?3, hold_until = ?4 WHERE group_id = ?1"),
      extend_(db, "UPDATE shard SET hold_until = ?3 WHERE group_id = ?1 AND owner = ?2"),
      free_(db, "UPDATE shard SET owner = 0 WHERE group_id = ?1 AND owner = ?2"),
      free_all_(db, "UPDATE shard SET owner = 0 WHERE owner = ?1"),
      expired_(db, "SELECT group_id, owner FROM shard WHERE owner <> 0 AND hold_until <= ?1") {}

bool shard_table::open_to(std::int64_t group, std::int64_t self) {
    auto rows = find_.query(group);
    return !rows.next() || rows.number(0) == 0 || rows.number(0) == self;
}

std::optional<std::int64_t> shard_table::take(std::int64_t group, std::int64_t self, bool anew, std::int64_t until) {
    std::int64_t owner = 0;
    std::int64_t fence = 0;
    {
        auto rows = find_.query(group);
        if (rows.next()) {
            owner = rows.number(0);
            fence = rows.number(1);
        }
    }
    if (fence == 0) {
        insert_.run(group, self, until);
        return 1;
    }
    if (owner != 0 && owner != self) return std::nullopt;
    if (owner == 0 || anew) ++fence;
    take_.run(group, self, fence, until);
    return fence;
}

std::vector<shard_table::hold> shard_table::expired(std::int64_t now) {
    std::vector<hold> found;
    auto rows = expired_.query(now);
    while (rows.next())
        found.push_back({rows.number(0), rows.number(1)});
    return found;
}

key_table::key_table(database& db)
    : poison_(db, "INSERT INTO poisoned_key VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING"),
      release_(db, "DELETE FROM poisoned_key WHERE group_id = ?1 AND key = ?2"),
      any_(db, "SELECT 1 FROM poisoned_key WHERE group_id = ?1 LIMIT 1"),
      has_(db, "SELECT 1 FROM poisoned_key WHERE group_id = ?1 AND key = ?2") {}

}  // namespace shove::sqlite_backend
