#pragma once

#include <string>

#include <sys/types.h>

#include "descriptor.hpp"
#include "process.hpp"

namespace shove::cli {

/// A program that was started, seen from here.
struct started_process {
    int error = 0;        ///< The system's reason why it was not; then the rest is empty.
    pid_t id = 0;         ///< Also its group.
    descriptor exit;      ///< Readable once it has ended.
    descriptor messages;  ///< Its standard error; does not block.
};

/// Starts `/bin/sh -c command` in a group of its own, with default signals.
started_process start_process(const std::string& command, const process_input& input);

}  // namespace shove::cli
