#pragma once

namespace CLI {
class App;
}

namespace shove::cli {

/// Adds `shove bench` to the command line.
/// @param app        The command; must outlive the parsing.
/// @param exit_code  Set when the subcommand has run: 0 measured, 1 an error, 3 not everything was handled
///                   in time. Must outlive the parsing.
void add_bench_command(CLI::App& app, int& exit_code);

}  // namespace shove::cli
