#include "store.hpp"

#include "schema.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>

namespace shove::sqlite_backend {

namespace {

/// Waits until no other process opens the store; the kernel has no timed lock.
bool lock_opening(owners_file& locks, milliseconds timeout) {
    using namespace std::chrono;
    const auto give_up = steady_clock::now() + timeout;
    while (!locks.lock(owners_file::opening)) {
        if (steady_clock::now() >= give_up) return false;
        std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
}

bool may_write(const std::filesystem::path& path) {
    return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0 || errno == ENOENT;
}

/// Asked before SQLite opens the file: it would open it for reading only, or not say why it cannot.
error check_writable(const std::filesystem::path& path) {
    const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    if (!may_write(path)) return describe_failure(SQLITE_READONLY, path, "the file cannot be written");
    if (!may_write(folder)) return describe_failure(SQLITE_READONLY, path, "its folder cannot be written");
    return {};
}

}  // namespace

result<std::unique_ptr<store>> store::open(options settings, std::shared_ptr<clock> time) {
    if (auto cause = check_writable(settings.path)) return cause;
    database::options how{settings.path, database::access::read_write, settings.busy_timeout, settings.hurry};
    auto connection = std::make_unique<database>(how);
    auto& db = *connection;
    check_identity(db);
    if (!db.ok()) return db.failure();
    auto locks = owners_file::open(settings.path);
    if (!locks) return locks.error();
    if (!lock_opening(*locks, settings.busy_timeout)) {
        return error(errc::storage_busy,
                     "'" + settings.path.string() + "': another process is opening it for too long");
    }
    configure(db, settings.full_durability);
    migrate(db, current_boot_id(), to_microseconds(time->wall()));
    if (!db.ok()) return db.failure();
    std::unique_ptr<store> made(
        new store(std::move(settings), std::move(time), std::move(*locks), std::move(connection)));
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
