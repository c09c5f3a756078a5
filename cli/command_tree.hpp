#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

/// The command line as data, for what is made from its help: completions and the manual page.
namespace shove::cli {

/// An option or a positional argument.
struct option_entry {
    std::vector<std::string> names;  ///< `--quiet`, `-q`; of a positional its one name.
    std::string value;               ///< What it takes, `DURATION`; empty: it is a flag.
    std::vector<std::string> words;  ///< The words that its value may be, where they are few.
    std::string help;
    std::string group;      ///< The heading that it stands under; empty: none.
    std::string otherwise;  ///< The value without it; empty: not said.
    std::string variable;   ///< The environment variable that it is taken from too; empty: none.

    /// Its value names a file.
    bool takes_file() const { return value == "FILE"; }
};

/// A command, and those below it.
struct command_entry {
    std::string path;  ///< All words: `shove dlq list`.
    std::string help;
    std::string examples;
    std::vector<option_entry> options;
    std::vector<option_entry> positionals;
    std::vector<command_entry> commands;

    /// The last word of the path.
    std::string_view name() const { return std::string_view(path).substr(path.rfind(' ') + 1); }
};

/// The command of this name with all that is below it.
command_entry describe_command(const CLI::App& app, const std::string& path);

/// The command itself and all below it, each before what is below it. They live as long as `top`.
std::vector<const command_entry*> all_commands(const command_entry& top);

/// What may be given to a command: its own options and those that every command takes, which are the top's.
std::vector<const option_entry*> options_of(const command_entry& top, const command_entry& command);

}  // namespace shove::cli
