#include "upkeep.hpp"

#include "../schema.hpp"

#include <shove/clock.hpp>
#include <shove/sqlite_store.hpp>

#include <chrono>
#include <system_error>
#include <utility>

namespace shove::sqlite_backend::lease {

error no_such_file(const std::filesystem::path& path) {
    return {errc::not_connected, "there is no file '" + path.string() + "'; name the store's file"};
}

result<std::unique_ptr<database>> open_existing(const std::filesystem::path& path) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed)) return no_such_file(path);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    auto file = open_file({path}, true, std::chrono::duration_cast<std::chrono::microseconds>(now).count());
    if (!file) return file.error();
    return std::move(file->connection);
}

std::vector<std::string> space_names(database& db) {
    std::vector<std::string> names;
    statement list(db, "SELECT name FROM lease_space ORDER BY name");
    auto rows = list.query();
    while (rows.next())
        names.emplace_back(rows.text(0));
    return names;
}

result<void> end_transaction(database& db) {
    db.run("COMMIT");
    if (db.ok()) return {};
    if (db.in_transaction()) sqlite3_exec(db.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
    return db.failure();
}

namespace {

std::uint64_t bytes_of(const std::filesystem::path& path) {
    std::uint64_t all = 0;
    for (const auto* suffix : {"", "-wal"}) {
        std::error_code failed;
        const auto size = std::filesystem::file_size(path.string() + suffix, failed);
        if (!failed) all += size;
    }
    return all;
}

}  // namespace

}  // namespace shove::sqlite_backend::lease

namespace shove {

namespace lease = sqlite_backend::lease;

result<sqlite_store_size> compact_sqlite_store(const std::filesystem::path& path) {
    auto file = lease::open_existing(path);
    if (!file) return file.error();
    auto& db = **file;
    sqlite_store_size size;
    size.before = lease::bytes_of(path);
    db.run("VACUUM");
    db.run("PRAGMA wal_checkpoint(TRUNCATE)");
    if (!db.ok()) return db.failure();
    size.after = lease::bytes_of(path);
    return size;
}

result<sqlite_store_version> migrate_sqlite_store(const std::filesystem::path& path) {
    std::error_code failed;
    if (!std::filesystem::is_regular_file(path, failed)) return lease::no_such_file(path);
    sqlite_store_version version;
    {
        sqlite_backend::database looking({path, sqlite_backend::database::access::read_only});
        version.before = static_cast<int>(looking.number("PRAGMA user_version"));
        if (!looking.ok()) return looking.failure();
    }
    auto file = lease::open_existing(path);
    if (!file) return file.error();
    version.after = static_cast<int>((*file)->number("PRAGMA user_version"));
    if (!(*file)->ok()) return (*file)->failure();
    return version;
}

}  // namespace shove
