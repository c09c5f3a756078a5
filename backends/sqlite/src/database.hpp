#pragma once

#include <shove/clock.hpp>
#include <shove/error.hpp>

#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shove::sqlite_backend {

/// One connection, used by one thread at a time.
///
/// Its first failure sticks: until `clear_failure()` every statement does nothing and gives no row.
/// So a chain of statements needs one check at its end.
class database {
public:
    enum class access : std::uint8_t { read_write, read_only };
    struct options {
        std::filesystem::path path;
        access mode = access::read_write;
        milliseconds busy_timeout{30'000};
        /// Once true: no longer wait for other processes' locks.
        std::shared_ptr<const std::atomic<bool>> hurry = nullptr;
    };

    /// Opens the file; `ok()` tells whether it worked.
    explicit database(options settings);
    database(const database&) = delete;
    database& operator=(const database&) = delete;

    sqlite3* handle() noexcept { return handle_.get(); }
    const std::filesystem::path& path() const noexcept { return settings_.path; }

    bool ok() const noexcept { return !failure_; }
    const error& failure() const noexcept { return failure_; }
    /// True if the failure may have left the transaction written or not (an I/O error in a commit).
    bool fate_unknown() const noexcept { return (failure_code_ & 0xff) == SQLITE_IOERR; }
    void clear_failure() noexcept;
    /// Notes SQLite's result `code` as the failure, if it is one and the first.
    void note(int code);
    void fail(error cause);

    /// Runs statements that give no rows.
    void run(const char* sql);
    /// The first column of the first row, for a `PRAGMA` or a count.
    std::int64_t number(const char* sql);
    std::string text(const char* sql);

    std::int64_t changes() noexcept { return sqlite3_changes64(handle_.get()); }
    bool in_transaction() noexcept { return handle_ && sqlite3_get_autocommit(handle_.get()) == 0; }

private:
    struct closer {
        void operator()(sqlite3* db) const noexcept { sqlite3_close_v2(db); }
    };
    static int wait_for_lock(void* self, int count);
    bool keep_waiting(int count);

    options settings_;
    std::unique_ptr<sqlite3, closer> handle_;
    error failure_;
    int failure_code_ = SQLITE_OK;
    std::chrono::steady_clock::time_point waiting_since_;
};

/// SQLite's result code as an error of ours, with file and remedy.
error describe_failure(int code, const std::filesystem::path& path, std::string_view text);

using blob_view = std::span<const std::byte>;

/// One prepared statement, kept for the life of its connection.
class statement {
public:
    statement(database& db, std::string_view sql);

    /// Runs it with these parameters and gives the number of changed rows.
    template <class... Values>
    std::int64_t run(const Values&... values) {
        start(values...);
        step();
        const auto changed = db_->ok() ? db_->changes() : 0;
        reset();
        return changed;
    }

    /// The rows of one execution; ends it when it goes.
    class rows {
    public:
        explicit rows(statement& owner) noexcept : owner_(&owner) {}
        rows(const rows&) = delete;
        rows& operator=(const rows&) = delete;
        ~rows() { owner_->reset(); }
        bool next() { return owner_->step(); }
        bool is_null(int column) const { return sqlite3_column_type(raw(), column) == SQLITE_NULL; }
        std::int64_t number(int column) const { return sqlite3_column_int64(raw(), column); }
        /// Valid until the next row.
        std::string_view text(int column) const;
        blob_view blob(int column) const;

    private:
        sqlite3_stmt* raw() const noexcept { return owner_->handle_.get(); }
        statement* owner_;
    };

    /// Parameters must outlive the rows.
    template <class... Values>
    [[nodiscard]] rows query(const Values&... values) {
        start(values...);
        return rows(*this);
    }

private:
    struct finalizer {
        void operator()(sqlite3_stmt* s) const noexcept { sqlite3_finalize(s); }
    };

    template <class... Values>
    void start(const Values&... values) {
        int position = 0;
        (bind(++position, values), ...);
    }
    void bind(int position, std::int64_t value);
    void bind(int position, std::string_view value);
    void bind(int position, blob_view value);
    void bind(int position, std::nullopt_t);
    template <std::integral Number>
    void bind(int position, Number value) {
        bind(position, static_cast<std::int64_t>(value));
    }
    template <class T>
    void bind(int position, const std::optional<T>& value) {
        if (value) {
            bind(position, *value);
        } else {
            bind(position, std::nullopt);
        }
    }
    bool step();
    void reset() noexcept { sqlite3_reset(handle_.get()); }

    database* db_;
    std::unique_ptr<sqlite3_stmt, finalizer> handle_;
};

}  // namespace shove::sqlite_backend
