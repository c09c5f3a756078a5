#include <CLI/CLI.hpp>

#include "command.hpp"

#include <shove/detail/json_writer.hpp>

#ifndef SHOVE_VERSION
#define SHOVE_VERSION "unknown"
#endif

namespace shove::cli {
namespace {

exit_code version(session& with) {
    if (with.json()) {
        with.out().write("{\"version\":\"" SHOVE_VERSION "\"}\n");
    } else {
        with.out().write("shove " SHOVE_VERSION "\n");
    }
    with.out().check();
    return exit_code::ok;
}

}  // namespace

void add_version_command(CLI::App& app, action& chosen) {
    auto* command = app.add_subcommand("version", "Show the version");
    command->footer("Examples:\n  shove version\n");
    command->callback([&chosen] { chosen = version; });
}

}  // namespace shove::cli
