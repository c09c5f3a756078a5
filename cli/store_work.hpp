#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "command.hpp"

namespace shove::cli {

/// What `shove store` is asked for, beyond the file that `--url` names.
struct store_request {
    std::string name_space = "default";
    std::optional<std::uint64_t> retained_messages{};
    std::optional<std::uint32_t> subscriptions{};
    std::optional<std::uint32_t> attempts{};
    std::optional<std::size_t> payload_bytes{};
    std::string from{};  ///< The file to be imported.
    std::string keys{};  ///< The file of the keys.
};

// Each does one subcommand; where the command was built without SQLite, each fails saying so.
exit_code check_store(session& with, const store_request& what);
exit_code compact_store(session& with, const store_request& what);
exit_code migrate_store(session& with, const store_request& what);
exit_code show_store(session& with, const store_request& what);
exit_code set_store_limit(session& with, const store_request& what);
exit_code rekey_store(session& with, const store_request& what);
exit_code import_store(session& with, const store_request& what);

}  // namespace shove::cli
