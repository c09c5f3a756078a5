#pragma once

#include <shove/clock.hpp>
#include <shove/error.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace shove::sqlite_backend {

/// The lock file `PATH-owners`. Each open driver holds a lock on the byte of its number; the kernel
/// drops it when the process ends, in whatever way. So a dead owner is recognised without process
/// ids, which the system reuses.
///
/// The locks belong to the open file description (`F_OFD_SETLK`), so that several drivers of one
/// process see each other. A child made by `fork` without `exec` shares its parent's lock: while it
/// lives, only the lease tells that the parent died.
class owners_file {
public:
    owners_file() noexcept = default;
    /// Opens the file, makes it if needed.
    static result<owners_file> open(const std::filesystem::path& database);

    owners_file(owners_file&& other) noexcept;
    owners_file& operator=(owners_file&& other) noexcept;
    owners_file(const owners_file&) = delete;
    owners_file& operator=(const owners_file&) = delete;
    ~owners_file();

    /// Takes the lock of `owner`; false if somebody has it.
    bool lock(std::int64_t owner) noexcept;
    void unlock(std::int64_t owner) noexcept;
    /// True if another open driver holds the lock of `owner`; also when that cannot be told.
    bool is_alive(std::int64_t owner) const noexcept;

    /// The byte that processes hold while they open the store; owners are numbered from 1.
    static constexpr std::int64_t opening = 0;

private:
    explicit owners_file(int descriptor) noexcept : descriptor_(descriptor) {}
    int descriptor_ = -1;
};

/// Names this run of the machine's kernel; empty where it has no name.
std::string current_boot_id();

}  // namespace shove::sqlite_backend
