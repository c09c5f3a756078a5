#pragma once

#include <shove/lease.hpp>
#include <shove/sqlite.hpp>
#include <shove/storage_key.hpp>

#include <chrono>
#include <filesystem>
#include <optional>

namespace shove {

/// Where leases are kept, and how surely.
struct sqlite_lease_config {
    /// May hold queues of `shove::sqlite` too. On a local disk; no symbolic link.
    std::filesystem::path path = "shove.db";
    sqlite::durability durability = sqlite::durability::full;
    /// How often a waiting receive looks for what other processes have published.
    std::chrono::milliseconds poll{20};
    /// How long to wait for another process that holds the file.
    std::chrono::milliseconds busy_timeout = std::chrono::seconds(30);
    /// Seals payloads and headers in the file (docs/guide/sealed-leases.md). A namespace is sealed from its first
    /// opening on, or never.
    std::optional<keyring> keys{};
};

/// Leases in one file, shared by the processes of one machine. What was answered survives the death of the process
/// and, with `durability::full`, a power cut; of a power cut only claims and extensions may be forgotten: then a
/// message is delivered again, with the same attempt number. A lease ends with a restart of the machine.
///
/// Calls that wait at the same time share a commit: 32 publishers that wait cost one fsync.
/// @par Complexity  A publish costs the same whatever is retained and however many groups there are.
/// @par Errors      `errc::invalid_argument` (an option, a path that is no regular file, another application's file),
///                  `configuration_conflict` (the namespace has other limits, or is sealed, or is not),
///                  `version_mismatch`, `key_unavailable`, `authentication_failed` (the keys are not the file's),
///                  `storage_*`, `not_connected` (no such folder); the detail names the file and the remedy.
result<lease_broker> open_sqlite_leases(const sqlite_lease_config& config, lease_options options = {});

}  // namespace shove
