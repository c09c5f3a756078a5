#pragma once

#include <string>

#include "command_tree.hpp"

namespace shove::cli {

// Scripts that complete the command's words in a shell: subcommands, options, files, and values that are one of few
// words.
std::string bash_completion(const command_entry& top);
std::string zsh_completion(const command_entry& top);
std::string fish_completion(const command_entry& top);

}  // namespace shove::cli
