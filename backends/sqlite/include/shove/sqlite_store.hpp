#pragma once

#include <shove/error.hpp>
#include <shove/lease_options.hpp>
#include <shove/storage_key.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// Upkeep of a store's file, for tools: what `shove store` does.
///
/// All functions block, and may be called while other processes use the file, except where they say otherwise.
/// @par Errors  `errc::not_connected` (no such file), `invalid_argument` (another application's), `storage_*`,
///              `version_mismatch`; the detail names the file and the remedy.
namespace shove {

/// What a check has found.
struct sqlite_store_report {
    std::vector<std::string> problems{};  ///< For people; empty: all is well. At most 100.
    std::uint64_t messages = 0;           ///< Of the leases' namespaces.
    std::uint64_t unread = 0;             ///< Of these, sealed ones, whose content was not looked at.
};

/// Looks at the whole file: SQLite's own integrity, counts and references of the leases, each plain message's record
/// against its fingerprint. Reads one moment of the file; writes nothing.
result<sqlite_store_report> check_sqlite_store(const std::filesystem::path& path);

struct sqlite_store_size {
    std::uint64_t before = 0;  ///< Bytes, with the write-ahead log.
    std::uint64_t after = 0;
};
/// Writes the file anew without its free pages. Needs as much room again on its disk, and the file to itself for that
/// time: `storage_busy` where another process is at work.
result<sqlite_store_size> compact_sqlite_store(const std::filesystem::path& path);

struct sqlite_store_version {
    int before = 0;  ///< 0: the file was empty.
    int after = 0;
};
/// Brings the file's schema up to date, as opening it does.
result<sqlite_store_version> migrate_sqlite_store(const std::filesystem::path& path);

/// A namespace of leases.
struct lease_space_stats {
    std::string name_space;
    std::string profile;  ///< `plaintext-v1`, `aes-256-gcm-v1`.
    lease_stats counts;
};
/// The namespaces of leases, in order of their names.
result<std::vector<lease_space_stats>> sqlite_lease_stats(const std::filesystem::path& path);

/// Limits to be changed; what is not given stays.
struct lease_limit_change {
    std::optional<std::uint64_t> retained_messages{};
    std::optional<std::uint32_t> subscriptions{};
    std::optional<std::uint32_t> attempts{};
    std::optional<std::size_t> payload_bytes{};
};
/// Changes what a namespace is pinned to; gives its new limits. Below what is kept now: nothing is dropped, but nothing
/// is taken in either until there is room. Brokers that have it open keep to the new ones from their next transaction
/// on (to the payload's size only once they are opened again).
/// @par Errors  `errc::invalid_argument` (a limit out of its range, an unknown namespace).
result<lease_limits> set_sqlite_lease_limits(const std::filesystem::path& path, const std::string& name_space,
                                             const lease_limit_change& change);

/// What a rekeying has done.
struct sqlite_rekey_report {
    std::uint64_t name_spaces = 0;  ///< Sealed ones; others are passed over.
    std::uint64_t records = 0;      ///< Sealed anew under the ring's first key.
};
/// Seals anew what another key than the ring's first has sealed, so that the others may go. In small steps, between
/// which others work with the file; after a crash it is begun again, and does what is left.
/// @param progress  Told after each step how many records were sealed anew so far; may be null.
/// @par Errors  `errc::key_unavailable` (names the key), `authentication_failed`.
result<sqlite_rekey_report> rekey_sqlite_store(const std::filesystem::path& path, const keyring& keys,
                                               const std::function<void(std::uint64_t)>& progress = {});

struct lease_import_report {
    std::uint64_t name_spaces = 0;
    std::uint64_t topics = 0;
    std::uint64_t groups = 0;
    std::uint64_t messages = 0;
    std::uint64_t deliveries = 0;  ///< Waiting, leased and dead ones.
};
/// Copies all that a file of rullst-messaging holds into a store, in one transaction: ids, sequences, keys, groups,
/// attempts, dead letters, and leases with their tokens. The source is only read; end what uses it first.
/// @par Errors  `errc::invalid_argument` (no such file, or a namespace that the store has already), `unsupported`
///              (an encrypted namespace), `storage_corrupt`.
result<lease_import_report> import_rullst_messaging(const std::filesystem::path& from,
                                                    const std::filesystem::path& into);

}  // namespace shove
