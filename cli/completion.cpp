#include "completion.hpp"

#include <algorithm>

namespace shove::cli {
namespace {

std::string replaced(std::string text, std::string_view what, std::string_view by) {
    for (auto at = text.find(what); at != text.npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

/// In single quotes, as bash and zsh read them.
std::string quoted(const std::string& text) {
    return "'" + replaced(text, "'", "'\\''") + "'";
}

/// The help in one line.
std::string one_line(const std::string& help) {
    return replaced(help, "\n", " ");
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
    std::string text;
    for (const auto& each : words)
        text += (text.empty() ? "" : std::string(between)) + each;
    return text;
}

/// Names of the option's value, as patterns of a `case` over `PATH OPTION`: `'shove consume --outcome'`.
std::string value_pattern(const command_entry& command, const option_entry& option) {
    std::vector<std::string> patterns;
    patterns.reserve(option.names.size());
    for (const auto& name : option.names)
        patterns.push_back(quoted(command.path + ' ' + name));
    return joined(patterns, "|");
}

/// The words that may come as a command's positionals or below it.
std::vector<std::string> next_words(const command_entry& command) {
    std::vector<std::string> words;
    words.reserve(command.commands.size());
    for (const auto& each : command.commands)
        words.emplace_back(each.name());
    for (const auto& each : command.positionals)
        words.insert(words.end(), each.words.begin(), each.words.end());
    return words;
}

/// The part of a bash or zsh script that walks over the words so far: `$at` becomes the command's path.
std::string walk_case(const command_entry& top, const std::string& word) {
    std::vector<std::string> paths;
    for (const auto* each : all_commands(top)) {
        if (each != &top) paths.push_back(quoted(each->path));
    }
    return "        case \"$at " + word + "\" in\n        " + joined(paths, " | \\\n        ") +
           ")\n            at=\"$at " + word + "\" ;;\n        esac\n";
}

/// One case for each option that takes a value. `answer` gives the shell's commands for it.
template <class Answer>
std::string value_cases(const command_entry& top, Answer answer) {
    std::string text;
    for (const auto* command : all_commands(top)) {
        for (const auto* option : options_of(top, *command)) {
            if (!option->value.empty()) {
                text += "    " + value_pattern(*command, *option) + ") " + answer(*option) + "return ;;\n";
            }
        }
    }
    return text;
}

/// `name:help` of zsh's `_describe`.
std::string described(const std::string& name, const std::string& help) {
    return quoted(replaced(name, ":", "\\:") + ':' + one_line(help));
}

std::string zsh_commands(const command_entry& command) {
    std::string text;
    for (const auto& each : command.commands)
        text += ' ' + described(std::string(each.name()), each.help);
    for (const auto& positional : command.positionals) {
        for (const auto& word : positional.words)
            text += ' ' + described(word, positional.help);
    }
    return text;
}

std::string zsh_options(const command_entry& top, const command_entry& command) {
    std::string text;
    for (const auto* option : options_of(top, command)) {
        for (const auto& name : option->names)
            text += "\n            " + described(name, option->help);
    }
    return text;
}

/// In single quotes, as fish reads them.
std::string fish_quoted(const std::string& text) {
    return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_option(const option_entry& option, const std::string& condition) {
    std::string text = "complete -c shove" + condition;
    for (const auto& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (option.takes_file()) {
        text += " -r -F";
    } else if (!option.value.empty()) {
        text += " -x";
    }
    if (!option.words.empty()) text += " -a " + fish_quoted(joined(option.words, " "));
    return text + " -d " + fish_quoted(one_line(option.help)) + '\n';
}

std::string fish_condition(const command_entry& command) {
    return " -n " + fish_quoted("__shove_at " + command.path);
}

std::string fish_words(const command_entry& command, const std::string& condition) {
    std::string text;
    const auto add = [&](const std::string& word, const std::string& help) {
        text += "complete -c shove" + condition + " -a " + word + " -d " + fish_quoted(one_line(help)) + '\n';
    };
    for (const auto& each : command.commands)
        add(std::string(each.name()), each.help);
    for (const auto& positional : command.positionals) {
        for (const auto& word : positional.words)
            add(word, positional.help);
    }
    return text;
}

}  // namespace

std::string bash_completion(const command_entry& top) {
    std::string text =
        "# bash completion of shove; made by `shove completion bash`\n"
        "_shove_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$2\"); }\n"
        "_shove_files() {\n"
        "    mapfile -t COMPREPLY < <(compgen -f -- \"$1\")\n"
        "    compopt -o filenames 2>/dev/null\n"
        "}\n"
        "_shove() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} at=shove words= i\n"
        "    COMPREPLY=()\n"
        "    if [[ $word == '=' ]]; then word=; elif [[ $before == '=' ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; "
        "fi\n"
        "    for ((i = 1; i < COMP_CWORD; i++)); do\n" +
        walk_case(top, "${COMP_WORDS[i]}") +
        "    done\n"
        "    case \"$at $before\" in\n" +
        value_cases(top,
                    [](const option_entry& option) {
                        if (option.takes_file()) return std::string("_shove_files \"$word\"; ");
                        if (option.words.empty()) return std::string();
                        return "_shove_words " + quoted(joined(option.words, " ")) + " \"$word\"; ";
                    }) +
        "    esac\n"
        "    case $at in\n";
    for (const auto* command : all_commands(top)) {
        auto words = next_words(*command);
        for (const auto* option : options_of(top, *command))
            words.insert(words.end(), option->names.begin(), option->names.end());
        if (command == &top) words.emplace_back("--version");
        std::ranges::sort(words);
        words.erase(std::ranges::unique(words).begin(), words.end());
        text += "    " + quoted(command->path) + ") words=" + quoted(joined(words, " ")) + " ;;\n";
    }
    return text +
           "    esac\n"
           "    _shove_words \"$words\" \"$word\"\n"
           "}\n"
           "complete -F _shove shove\n";
}

std::string zsh_completion(const command_entry& top) {
    std::string text =
        "#compdef shove\n"
        "# zsh completion of shove; made by `shove completion zsh`\n"
        "_shove() {\n"
        "    local at=shove i\n"
        "    local -a commands options\n"
        "    for ((i = 2; i < CURRENT; i++)); do\n" +
        walk_case(top, "${words[i]}") +
        "    done\n"
        "    case \"$at ${words[CURRENT-1]}\" in\n" +
        value_cases(top,
                    [](const option_entry& option) {
                        if (option.takes_file()) return std::string("_files; ");
                        if (option.words.empty()) return "_message " + quoted(option.value) + "; ";
                        return "compadd -- " + joined(option.words, " ") + "; ";
                    }) +
        "    esac\n"
        "    case $at in\n";
    for (const auto* command : all_commands(top)) {
        text += "    " + quoted(command->path) + ")\n        commands=(" + zsh_commands(*command) + ")\n" +
                "        options=(" + zsh_options(top, *command) + ") ;;\n";
    }
    return text +
           "    esac\n"
           "    (( ${#commands} )) && _describe -t commands 'command' commands\n"
           "    _describe -o -t options 'option' options\n"
           "}\n"
           "if [[ ${funcstack[1]} == _shove ]]; then _shove \"$@\"; else compdef _shove shove; fi\n";
}

std::string fish_completion(const command_entry& top) {
    std::string text =
        "# fish completion of shove; made by `shove completion fish`\n"
        "# Whether the command so far is just this one.\n"
        "function __shove_at\n"
        "    set -l at shove\n"
        "    for word in (commandline -opc)[2..]\n"
        "        switch \"$at $word\"\n"
        "            case";
    for (const auto* each : all_commands(top)) {
        if (each != &top) text += ' ' + fish_quoted(each->path);
    }
    text +=
        "\n"
        "                set at \"$at $word\"\n"
        "        end\n"
        "    end\n"
        "    test \"$at\" = \"$argv\"\n"
        "end\n"
        "complete -c shove -f\n";
    for (const auto* command : all_commands(top)) {
        const auto condition = fish_condition(*command);
        text += fish_words(*command, condition);
        for (const auto* option : options_of(top, *command))
            text += fish_option(*option, condition);
    }
    return text;
}

}  // namespace shove::cli
