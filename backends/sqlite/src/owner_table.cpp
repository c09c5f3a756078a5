#include "owner_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace shove::sqlite_backend {

owner_table::owner_table(database& db, owners_file& locks)
    : db_(&db),
      locks_(&locks),
      insert_(db, "INSERT INTO owner (process, opened_at) VALUES (?1, ?2)"),
      remove_(db, "DELETE FROM owner WHERE id = ?1"),
      list_(db, "SELECT id FROM owner"),
      same_boot_(db, "SELECT 1 FROM store WHERE only_row = 1 AND boot_id = ?1"),
      suspect_(db,
               "UPDATE reader_group SET suspect_below = (SELECT tail FROM queue WHERE queue.id = queue_id) "
               "WHERE EXISTS (SELECT 1 FROM owner)"),
      set_boot_(db, "UPDATE store SET boot_id = ?1 WHERE only_row = 1") {}

std::int64_t owner_table::enter(std::int64_t now_us) {
    // The lock is taken before the row can be seen, so that nobody finds the row without its lock.
    db_->run("BEGIN IMMEDIATE");
    insert_.run(static_cast<std::int64_t>(::getpid()), now_us);
    const auto self = db_->ok() ? sqlite3_last_insert_rowid(db_->handle()) : 0;
    if (db_->ok() && !locks_->lock(self)) {
        db_->fail({errc::internal, "'" + db_->path().string() + "-owners': the lock of owner " + std::to_string(self) +
                                       " is taken; end the programs that hold the file"});
    }
    db_->run("COMMIT");
    return db_->ok() ? self : 0;
}

std::vector<std::int64_t> owner_table::find_dead(std::int64_t self) {
    if (stale_) {
        known_.clear();
        auto rows = list_.query();
        while (rows.next())
            known_.push_back(rows.number(0));
        stale_ = !db_->ok();
    }
    std::vector<std::int64_t> dead;
    std::copy_if(known_.begin(), known_.end(), std::back_inserter(dead),
                 [&](std::int64_t id) { return id != self && !locks_->is_alive(id); });
    return dead;
}

void owner_table::note_boot(std::string_view boot_id) {
    if (same_boot_.query(boot_id).next()) return;
    suspect_.run();
    set_boot_.run(boot_id);
}

void recovery::give_back(const lease_table::lease& one) {
    leases_->remove(one.owner, one.tag);
    auto what = one.what;
    what.maybe_handled = true;
    parked_->add(one.group, what, 0);
}

void recovery::bury(std::int64_t owner) {
    feeds_->drop_all(owner);
    const auto held = leases_->of_owner(owner);
    const bool isolated = std::any_of(held.begin(), held.end(), [](const auto& one) { return one.solo; });
    std::set<std::pair<std::int64_t, std::string>> heads;
    for (const auto& one : held) {
        give_back(one.what);
        // Of a sequenced key only the first one can have been called.
        const bool called = !one.sharded || heads.emplace(one.what.group, one.key).second;
        if (isolated ? one.solo : called) histories_->add_crash(one.what.group, one.what.what.seq);
    }
    shards_->free_all(owner);
    owners_->remove(owner);
}

void recovery::give_back_all(std::int64_t owner) {
    feeds_->drop_all(owner);
    for (const auto& one : leases_->of_owner(owner))
        give_back(one.what);
    shards_->free_all(owner);
}

void recovery::take_expired(std::int64_t now) {
    for (const auto& one : leases_->expired(now))
        give_back(one.what);
    for (const auto& lost : shards_->expired(now)) {
        for (const auto& one : leases_->of_owner(lost.owner)) {
            if (one.what.group == lost.group) give_back(one.what);
        }
        shards_->free(lost.group, lost.owner);
    }
}

}  // namespace shove::sqlite_backend
