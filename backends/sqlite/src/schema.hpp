#pragma once

#include "database.hpp"

#include <cstdint>
#include <string_view>

namespace shove::sqlite_backend {

/// Marks the file as ours in its header ("shve"); `file` and `sqlite3 .dbinfo` show it.
inline constexpr std::int32_t application_id = 0x73687665;

/// The schema that this version reads and writes; kept in `PRAGMA user_version`.
inline constexpr int schema_version = 3;

/// A row of a message is numbered by its queue and its place in it: `queue << sequence_bits | place`.
/// So one table holds all queues, each a contiguous range in order, and needs no index beside.
inline constexpr int sequence_bits = 44;

/// Refuses what is not ours before anything is written: another application's file, or a newer schema.
void check_identity(database& db);

/// Brings an empty or older file up to `schema_version`, in one transaction. Safe if several
/// processes do it at once.
void migrate(database& db, std::string_view boot_id, std::int64_t now_us);

/// Settings of a connection, not stored in the file except for the journal mode.
void configure(database& db, bool full_durability);

}  // namespace shove::sqlite_backend
