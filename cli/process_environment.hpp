#pragma once

#include <shove/delivery.hpp>

#include <string>
#include <vector>

namespace shove::cli {

/// How a worker's program learns of its message: variables, and a file for headers too large for one.
struct process_environment {
    std::vector<std::string> variables;
    std::string side_file;

    /// Our own environment with the message's variables in place of any of the same names.
    static process_environment of(const delivery& message);
};

}  // namespace shove::cli
