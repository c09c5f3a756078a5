#pragma once

namespace shove::cli {

/// The whole command: reads the command line, does what it asks for, tells of errors. Gives the exit code.
int run_command(int argc, char** argv);

}  // namespace shove::cli
