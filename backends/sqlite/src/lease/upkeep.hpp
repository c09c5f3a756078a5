#pragma once

#include "../opening.hpp"
#include "space.hpp"

#include <shove/error.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace shove::sqlite_backend::lease {

/// Opens a file that must be there, its schema brought up to date.
result<std::unique_ptr<database>> open_existing(const std::filesystem::path& path);
/// The error that there is no such file.
error no_such_file(const std::filesystem::path& path);
/// The names of the namespaces, in order.
std::vector<std::string> space_names(database& db);
/// Ends a transaction: commits, or rolls back what failed.
result<void> end_transaction(database& db);

}  // namespace shove::sqlite_backend::lease
