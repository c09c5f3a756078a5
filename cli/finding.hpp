#pragma once

#include <shove/spi/description.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"

namespace shove::cli {

/// How good or bad something that was looked at is.
enum class verdict : std::uint8_t {
    ok,
    note,     ///< Good to know.
    warning,  ///< It works, and somebody should look at it.
    failed,
};

/// What `shove doctor` found in one thing that it looked at.
struct finding {
    std::string check;  ///< What was looked at, `ping`.
    verdict is = verdict::ok;
    std::string text;
    std::string remedy;            ///< What to do; empty: nothing.
    std::vector<spi::fact> facts;  ///< Printed as a list below.
};

/// `ok`, `note`, `warning`, `failed`.
std::string_view word_for(verdict is) noexcept;

/// Prints a finding: some lines for people, with `--json` one line.
void print(session& with, const finding& what);

}  // namespace shove::cli
