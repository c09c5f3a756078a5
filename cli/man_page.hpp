#pragma once

#include <string>

#include "command_tree.hpp"

namespace shove::cli {

/// The manual page of section 1, as troff with the macros of man(7).
std::string man_page(const command_entry& top, const std::string& version);

}  // namespace shove::cli
