#include <CLI/CLI.hpp>

#include <memory>

#include "command.hpp"
#include "completion.hpp"
#include "man_page.hpp"

#ifndef SHOVE_VERSION
#define SHOVE_VERSION "unknown"
#endif

namespace shove::cli {
namespace {

constexpr const char* completion_examples =
    "Examples:\n"
    "  source <(shove completion bash)\n"
    "  shove completion zsh > \"${fpath[1]}/_shove\"\n"
    "  shove completion fish > ~/.config/fish/completions/shove.fish\n";

constexpr const char* man_examples =
    "Examples:\n"
    "  shove man > shove.1 && man -l shove.1\n";

exit_code write(session& with, const std::string& text) {
    with.out().write(text);
    with.out().check();
    return exit_code::ok;
}

std::string completion_for(const std::string& shell, const command_entry& top) {
    if (shell == "bash") return bash_completion(top);
    return shell == "zsh" ? zsh_completion(top) : fish_completion(top);
}

}  // namespace

void add_completion_command(CLI::App& app, action& chosen) {
    const auto shell = std::make_shared<std::string>();
    auto* command = app.add_subcommand("completion", "Print a script that completes the command's words in a shell");
    command->footer(completion_examples);
    command->add_option("SHELL", *shell, "The shell")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}))
        ->option_text("bash|zsh|fish");
    command->callback([shell, &app, &chosen] {
        chosen = [shell, &app](session& with) {
            return write(with, completion_for(*shell, describe_command(app, "shove")));
        };
    });
}

void add_man_command(CLI::App& app, action& chosen) {
    auto* command = app.add_subcommand("man", "Print the manual page");
    command->footer(man_examples);
    command->callback([&app, &chosen] {
        chosen = [&app](session& with) { return write(with, man_page(describe_command(app, "shove"), SHOVE_VERSION)); };
    });
}

}  // namespace shove::cli
