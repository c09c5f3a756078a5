#pragma once

#include <shove/spi/backend.hpp>
#include <shove/spi/capabilities.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

namespace shove {

/// A durable queue in one file, shared by the processes of one machine. No server.
///
/// A publish that was confirmed survives the death of the process and, with `durability::full`, a
/// power cut. Several processes, and several brokers of one process, may use the file at once.
/// The file must lie on a local disk: SQLite's write-ahead log does not work over a network.
/// Beside `PATH` lie `PATH-wal`, `PATH-shm` (SQLite's own) and `PATH-owners` (who is alive); none of
/// them may be removed while a process uses the file.
struct sqlite {
    /// What a confirmation means.
    enum class durability : std::uint8_t {
        full,    ///< On the disk: survives a power cut. One fsync per group of operations.
        normal,  ///< With the operating system: survives the process; a power cut may take the last seconds.
    };

    struct config {
        std::filesystem::path path = "shove.db";
        sqlite::durability durability = sqlite::durability::full;
        /// How long a delivery belongs to a consumer that no longer renews it but is still alive. A
        /// dead process is noticed at once.
        std::chrono::milliseconds lease = std::chrono::seconds(30);
        /// How often a waiting consumer looks for what other processes have published.
        std::chrono::milliseconds poll{20};
        /// How long to wait for another process that holds the file.
        std::chrono::milliseconds busy_timeout = std::chrono::seconds(30);
        /// Messages and bytes accepted for writing but not yet written; beyond, publishers wait.
        std::size_t max_queued_publishes = 65'536;
        std::size_t max_queued_bytes = 64 * 1024 * 1024;
    };

    static constexpr spi::capabilities capabilities{
        .backend = "sqlite",
        .durable = true,
        .several_processes = true,
        .delayed_publish = true,
        .any_delay = true,
        .crash_budget = true,
        .admin = true,
        .key_order = true,
        .keeps_keys = true,
        .broadcast = true,
        .reader_groups = true,
        .lease = std::chrono::seconds(30),
        .max_message_bytes = 512 * 1024 * 1024,
    };
    static constexpr std::array<std::string_view, 1> schemes{"sqlite"};

    /// Reads `sqlite:relative.db` or `sqlite:///absolute/path.db`, with the options `durability=full|normal`,
    /// `lease`, `poll`, `busy_timeout` (`500ms`, `30s`, `5m`), `max_queued_publishes` and `max_queued_bytes`.
    /// @par Errors  `errc::invalid_argument`; the detail names the part that is wrong.
    static result<config> parse(std::string_view url);

    /// Opens the file, makes it if it is not there, and brings its schema up to date.
    /// @par Errors  `errc::version_mismatch` (a newer schema), `errc::invalid_argument` (the file of
    ///              another application), `errc::storage_*`; the detail names the file and the remedy.
    static result<std::shared_ptr<spi::driver>> open(const config& settings, const spi::driver_context& context);
};

static_assert(spi::backend<sqlite>);

}  // namespace shove
