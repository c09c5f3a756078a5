#pragma once

#include <shove/clock.hpp>
#include <shove/message.hpp>

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// Options whose values CLI11 does not know.
namespace shove::cli {

CLI::Option* add_duration(CLI::App& app, const std::string& names, milliseconds& into, const std::string& help);
CLI::Option* add_duration(CLI::App& app, const std::string& names, std::optional<milliseconds>& into,
                          const std::string& help);
/// As above; the word `none` means nothing.
CLI::Option* add_duration_or_none(CLI::App& app, const std::string& names, std::optional<milliseconds>& into,
                                  const std::string& help);
/// Durations with commas between them; the option may be repeated.
CLI::Option* add_durations(CLI::App& app, const std::string& names, std::vector<milliseconds>& into,
                           const std::string& help);
/// A time: RFC 3339, or a duration that lies back from now.
CLI::Option* add_moment(CLI::App& app, const std::string& names, std::optional<wall_time>& into,
                        const std::string& help);
/// Refuses numbers that are not above zero, by a short text; gives the option back.
CLI::Option* must_be_positive(CLI::Option* option);

}  // namespace shove::cli
