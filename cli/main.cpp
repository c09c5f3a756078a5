#include <csignal>

#include "command_line.hpp"

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an error of the write
    return shove::cli::run_command(argc, argv);
}
