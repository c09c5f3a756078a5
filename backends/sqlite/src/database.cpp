#include "database.hpp"

#include <algorithm>
#include <thread>
#include <utility>

namespace shove::sqlite_backend {

namespace {

errc classify(int code) {
    switch (code & 0xff) {
        case SQLITE_FULL:
            return errc::storage_full;
        case SQLITE_READONLY:
        case SQLITE_PERM:
        case SQLITE_AUTH:
            return errc::storage_read_only;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_PROTOCOL:
            return errc::storage_busy;
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return errc::storage_corrupt;
        case SQLITE_CANTOPEN:
            return errc::not_connected;
        case SQLITE_IOERR:
            return errc::connection_lost;
        case SQLITE_TOOBIG:
            return errc::too_large;
        case SQLITE_INTERRUPT:
            return errc::timed_out;
        default:
            return errc::internal;
    }
}

std::string_view remedy(errc code) {
    switch (code) {
        case errc::storage_full:
            return "free space on its disk, then try again";
        case errc::storage_read_only:
            return "make the file and its folder writable for this user";
        case errc::storage_busy:
            return "another process held it for too long; end that process or raise busy_timeout";
        case errc::storage_corrupt:
            return "restore it from a backup, or save what `sqlite3 FILE .recover` finds";
        case errc::not_connected:
            return "check that its folder exists and may be written";
        case errc::connection_lost:
            return "check its disk (see the kernel's log), then try again";
        case errc::too_large:
            return "send less in one message";
        default:
            return "please report this";
    }
}

}  // namespace

error describe_failure(int code, const std::filesystem::path& path, std::string_view text) {
    const auto kind = classify(code);
    std::string detail = "'" + path.string() + "': ";
    detail.append(text).append(" (SQLite code ").append(std::to_string(code)).append("); ").append(remedy(kind));
    return {kind, std::move(detail)};
}

database::database(options settings) : settings_(std::move(settings)) {
    // The read-only connection is opened for writing too: without that, SQLite cannot take part in
    // the recovery of a write-ahead log. `query_only` keeps it from changing anything.
    sqlite3* raw = nullptr;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (settings_.mode == access::read_write) flags |= SQLITE_OPEN_CREATE;
    const int code = sqlite3_open_v2(settings_.path.c_str(), &raw, flags, nullptr);
    handle_.reset(raw);
    if (raw == nullptr) {
        failure_ = {errc::internal, "out of memory while opening '" + settings_.path.string() + "'"};
        return;
    }
    sqlite3_extended_result_codes(raw, 1);
    note(code);
    sqlite3_busy_handler(raw, &database::wait_for_lock, this);
    if (settings_.mode == access::read_only) run("PRAGMA query_only = 1");
}

void database::clear_failure() noexcept {
    failure_ = {};
    failure_code_ = SQLITE_OK;
}

void database::note(int code) {
    const int basic = code & 0xff;
    if (basic == SQLITE_OK || basic == SQLITE_ROW || basic == SQLITE_DONE || failure_) return;
    failure_code_ = code;
    failure_ = describe_failure(code, settings_.path, sqlite3_errmsg(handle_.get()));
}

void database::fail(error cause) {
    if (!failure_) failure_ = std::move(cause);
}

void database::run(const char* sql) {
    if (ok()) note(sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr));
}

std::int64_t database::number(const char* sql) {
    statement once(*this, sql);
    auto rows = once.query();
    return rows.next() ? rows.number(0) : 0;
}

std::string database::text(const char* sql) {
    statement once(*this, sql);
    auto rows = once.query();
    return rows.next() ? std::string(rows.text(0)) : std::string();
}

int database::wait_for_lock(void* self, int count) {
    return static_cast<database*>(self)->keep_waiting(count) ? 1 : 0;
}

bool database::keep_waiting(int count) {
    // Real time, also in tests: it waits for another process, not for an event of ours.
    using namespace std::chrono;
    const auto now = steady_clock::now();
    if (count == 0) waiting_since_ = now;
    const bool hurry = settings_.hurry && *settings_.hurry;
    if (hurry || now - waiting_since_ >= settings_.busy_timeout) return false;
    // Short naps, spread by the clock's low bits, so that a process that commits again and again
    // leaves a gap to the others.
    const auto longest = std::min<std::int64_t>(200 + 100 * count, 3'000);
    std::this_thread::sleep_for(microseconds(100 + now.time_since_epoch().count() / 64 % longest));
    return true;
}

statement::statement(database& db, std::string_view sql) : db_(&db) {
    if (!db.ok()) return;
    sqlite3_stmt* raw = nullptr;
    db.note(sqlite3_prepare_v3(db.handle(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT, &raw,
                               nullptr));
    handle_.reset(raw);
}

bool statement::step() {
    if (!db_->ok()) return false;
    const int code = sqlite3_step(handle_.get());
    if (code == SQLITE_ROW) return true;
    db_->note(code);
    return false;
}

std::string_view statement::rows::text(int column) const {
    const auto* first = reinterpret_cast<const char*>(sqlite3_column_text(raw(), column));
    return first ? std::string_view(first, static_cast<std::size_t>(sqlite3_column_bytes(raw(), column))) : "";
}

blob_view statement::rows::blob(int column) const {
    const auto* first = static_cast<const std::byte*>(sqlite3_column_blob(raw(), column));
    return first ? blob_view(first, static_cast<std::size_t>(sqlite3_column_bytes(raw(), column))) : blob_view();
}

void statement::bind(int position, std::int64_t value) {
    if (db_->ok()) db_->note(sqlite3_bind_int64(handle_.get(), position, value));
}

void statement::bind(int position, std::string_view value) {
    // An empty view may have no address, and SQLite takes a null address for NULL.
    const char* first = value.data() ? value.data() : "";
    if (db_->ok()) {
        db_->note(sqlite3_bind_text64(handle_.get(), position, first, value.size(), SQLITE_STATIC, SQLITE_UTF8));
    }
}

void statement::bind(int position, blob_view value) {
    const void* first = value.data() ? static_cast<const void*>(value.data()) : "";
    if (db_->ok()) db_->note(sqlite3_bind_blob64(handle_.get(), position, first, value.size(), SQLITE_STATIC));
}

void statement::bind(int position, std::nullopt_t) {
    if (db_->ok()) db_->note(sqlite3_bind_null(handle_.get(), position));
}

}  // namespace shove::sqlite_backend
