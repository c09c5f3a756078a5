#include "store.hpp"

#include "opening.hpp"

#include <utility>

namespace shove::sqlite_backend {

result<std::unique_ptr<store>> store::open(options settings, std::shared_ptr<clock> time) {
    database::options how{settings.path, database::access::read_write, settings.busy_timeout, settings.hurry};
    auto file = open_file(std::move(how), settings.full_durability, to_microseconds(time->wall()));
    if (!file) return file.error();
    std::unique_ptr<store> made(
        new store(std::move(settings), std::move(time), std::move(file->locks), std::move(file->connection)));
    made->enter();
    made->locks_.unlock(owners_file::opening);
    if (!made->db.ok()) return made->db.failure();
    return made;
}

store::store(options settings, std::shared_ptr<clock> time, owners_file locks, std::unique_ptr<database> connection)
    : settings_(std::move(settings)),
      time_(std::move(time)),
      locks_(std::move(locks)),
      connection_(std::move(connection)),
      db(*connection_),
      queues(db),
      messages(db),
      histories(db),
      parked(db),
      leases(db),
      owners(db, locks_),
      shards(db),
      keys(db),
      recovery(parked, leases, histories, owners, shards, queues.fed),
      begin_(db, "BEGIN IMMEDIATE"),
      commit_(db, "COMMIT"),
      data_version_(db, "PRAGMA data_version") {}

void store::enter() {
    db.run("BEGIN IMMEDIATE");
    owners.note_boot(current_boot_id());
    for (const auto dead : owners.find_dead(0))
        recovery.bury(dead);
    db.run("COMMIT");
    self_ = owners.enter(wall_us());
    owners.forget();
    if (!db.ok() && db.in_transaction()) sqlite3_exec(db.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

std::int64_t store::steady_us() const noexcept {
    return std::chrono::duration_cast<std::chrono::microseconds>(time_->now().time_since_epoch()).count();
}

bool store::begin(bool durable) {
    const bool synced = durable && settings_.full_durability;
    if (synced != synced_) {
        db.run(synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
        synced_ = synced;
    }
    begin_.run();
    look_for_news();
    return db.ok();
}

bool store::commit() {
    queues.flush();
    commit_.run();
    return db.ok();
}

void store::rollback() {
    // A failed statement may have rolled back already (disk full, I/O error).
    if (db.in_transaction()) sqlite3_exec(db.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    queues.forget();
    owners.forget();
}

void store::reuse_log() {
    sqlite3_wal_checkpoint_v2(db.handle(), "main", SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
}

void store::look_for_news() {
    auto rows = data_version_.query();
    const auto version = rows.next() ? rows.number(0) : 0;
    if (std::exchange(last_data_version_, version) == version) return;
    news_ = true;
    queues.forget();
    owners.forget();
}

bool store::changed_elsewhere() {
    look_for_news();
    return std::exchange(news_, false);
}

std::int64_t store::append_place(queue_state& queue) {
    if (queue.exhausted()) {
        db.fail({errc::storage_full, "queue '" + queue.name + "' has used up its numbers; use a new queue"});
        return 0;
    }
    queues.touch(queue);
    return ++queue.tail;
}

error store::unknown_queue(std::string_view name) const {
    std::string text = "queue '";
    text.append(name)
        .append("' was never declared in '")
        .append(db.path().string())
        .append("'; declare its topic first");
    return {errc::unknown_queue, std::move(text)};
}

bool store::leave() {
    begin(true);
    recovery.give_back_all(self_);
    owners.remove(self_);
    commit();
    const bool left = db.ok();
    if (!left) rollback();
    locks_.unlock(self_);
    return left;
}

}  // namespace shove::sqlite_backend
