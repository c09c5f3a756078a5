#pragma once

#include "../database.hpp"
#include "sealer.hpp"

#include <shove/lease_options.hpp>

#include <cstdint>
#include <string>

namespace shove::sqlite_backend::lease {

/// A namespace as it stands in the file.
struct space_row {
    std::int64_t id = 0;
    lease_limits limits{};
    sealer_state profile{};
    std::int64_t retained = 0;
    std::int64_t content_bytes = 0;
    std::int64_t subscriptions = 0;
};

/// The namespaces, with what each is pinned to and its counts: so a publish counts nothing.
class space_table {
public:
    explicit space_table(database& db);

    /// Nothing, with or without a failure in the database, if it is not there.
    std::optional<space_row> find(std::string_view name);
    /// Gives its number.
    std::int64_t insert(std::string_view name, const lease_limits& limits, const sealer_state& profile);
    void set_profile(std::int64_t id, const sealer_state& profile);
    void set_limits(std::int64_t id, const lease_limits& limits);
    void set_counts(const space_row& of);
    /// Reads the counts and limits of what `find` gave again.
    void refresh(space_row& into);

private:
    database* db_;
    statement find_;
    statement insert_;
    statement set_profile_;
    statement set_limits_;
    statement set_counts_;
    statement read_;
};

/// Uptime begins anew with the machine: where the file was used before that, what was leased has ended. Within a
/// transaction that writes.
void note_boot(database& db);

/// Fails where an update has not met exactly the one row that it was for.
void expect_one(database& db, std::int64_t changed, std::string_view what);
/// A row that breaks the format: `what` is its name in the error.
error damaged(const database& db, std::string_view what);

}  // namespace shove::sqlite_backend::lease
