#pragma once

#include "database.hpp"

#include <shove/spi/delivery.hpp>

#include <cstdint>
#include <memory>

namespace shove::sqlite_backend {

/// The columns of a message and of its history, in the order in which `read_message` and
/// `read_history` expect them. `m` is the message table, `h` the history table.
inline constexpr const char* message_columns =
    "m.seq, m.id, m.key, m.type, m.content_type, m.published_at, m.expires_at, m.headers, m.payload";
inline constexpr const char* history_columns =
    "h.retries, h.crashes, h.first_error, h.last_error, h.first_failed_at, h.last_failed_at, h.death_reason, "
    "h.original_queue, h.death_count, h.dead_at, h.not_before";
inline constexpr int history_begins = 9;
inline constexpr int extra_columns_begin = 20;

/// The message in the current row; empty, with the failure in `db`, if its stored form is damaged.
message read_message(database& db, const statement::rows& row);
/// The history in the current row, or null.
std::unique_ptr<spi::history> read_history(const statement::rows& row);
/// Until when the message in the current row waits in its place; the epoch: it does not.
wall_time read_not_before(const statement::rows& row);

std::int64_t to_microseconds(wall_time t) noexcept;
wall_time from_microseconds(std::int64_t us) noexcept;

/// Messages by their row number. They are written once and never changed.
class message_table {
public:
    explicit message_table(database& db);
    void insert(std::int64_t seq, const message& what);
    /// True if it was there.
    bool remove(std::int64_t seq) { return remove_.run(seq) > 0; }
    bool exists(std::int64_t seq);
    /// Stores the bytes of `from` again as `to`.
    void copy(std::int64_t from, std::int64_t to) { copy_.run(from, to); }

private:
    statement insert_;
    statement remove_;
    statement exists_;
    statement copy_;
};

/// What happened to a message before, per reader group; most messages have no row here.
class history_table {
public:
    explicit history_table(database& db);
    /// @param not_before  Of a message that keeps its place; 0: none.
    void put(std::int64_t group, std::int64_t seq, const spi::history& past, std::int64_t not_before = 0);
    void remove(std::int64_t group, std::int64_t seq) { remove_.run(group, seq); }
    void add_crash(std::int64_t group, std::int64_t seq) { add_crash_.run(group, seq); }

private:
    statement put_;
    statement remove_;
    statement add_crash_;
};

}  // namespace shove::sqlite_backend
