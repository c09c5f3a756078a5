#pragma once

#include "feeds.hpp"
#include "leases.hpp"
#include "owners_file.hpp"
#include "shards.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace shove::sqlite_backend {

/// Who has the store open: one row and one lock per driver. Takes back what dead owners held.
class owner_table {
public:
    owner_table(database& db, owners_file& locks);

    /// Registers this driver, in a transaction of its own; 0 if that failed.
    std::int64_t enter(std::int64_t now_us);
    /// Takes the row back; the lock goes with `leave` or with the process.
    void remove(std::int64_t owner) { remove_.run(owner); }
    /// Other owners whose process is gone. Reads only.
    std::vector<std::int64_t> find_dead(std::int64_t self);
    /// Reads the list of owners anew before the next `find_dead`.
    void forget() noexcept { known_.clear(), stale_ = true; }
    /// After a new start of the machine: claims are not synced to the disk, so what was handed out
    /// in the last moments may be unknown. Marks all that waits as maybe handled.
    void note_boot(std::string_view boot_id);

private:
    database* db_;
    owners_file* locks_;
    std::vector<std::int64_t> known_;
    bool stale_ = true;
    statement insert_;
    statement remove_;
    statement list_;
    statement same_boot_;
    statement suspect_;
    statement set_boot_;
};

/// Gives the deliveries of dead owners back to their queues and counts the crashes (G3).
class recovery {
public:
    recovery(waiting_room& parked, lease_table& leases, history_table& histories, owner_table& owners,
             shard_table& shards, feed_table& feeds)
        : parked_(&parked),
          leases_(&leases),
          histories_(&histories),
          owners_(&owners),
          shards_(&shards),
          feeds_(&feeds) {}

    /// Its subscriptions to broadcasts end, with what they had not handled.
    /// If the owner had isolated one delivery the crash is that one's, else it counts for each.
    void bury(std::int64_t owner);
    /// Its subscriptions were closed or its driver was: no crash, but its handlers may have run.
    void give_back_all(std::int64_t owner);
    /// Leases and shards that nobody renewed: no crash is counted, since their owner is alive. A shard goes with
    /// all that its owner held of it.
    void take_expired(std::int64_t now);

private:
    void give_back(const lease_table::lease& one);
    waiting_room* parked_;
    lease_table* leases_;
    history_table* histories_;
    owner_table* owners_;
    shard_table* shards_;
    feed_table* feeds_;
};

}  // namespace shove::sqlite_backend
