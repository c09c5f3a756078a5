#include "opening.hpp"

#include "schema.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>
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

result<open_store_file> open_file(database::options how, bool full_durability, std::int64_t now_us) {
    if (auto cause = check_writable(how.path)) return cause;
    const auto path = how.path;
    const auto patience = how.busy_timeout;
    auto connection = std::make_unique<database>(std::move(how));
    auto& db = *connection;
    check_identity(db);
    if (!db.ok()) return db.failure();
    auto locks = owners_file::open(path);
    if (!locks) return locks.error();
    if (!lock_opening(*locks, patience)) {
        return error(errc::storage_busy, "'" + path.string() + "': another process is opening it for too long");
    }
    configure(db, full_durability);
    migrate(db, current_boot_id(), now_us);
    if (!db.ok()) return db.failure();
    return open_store_file{std::move(*locks), std::move(connection)};
}

}  // namespace shove::sqlite_backend
