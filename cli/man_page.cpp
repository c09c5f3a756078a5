#include "man_page.hpp"

#include <algorithm>
#include <set>

namespace shove::cli {
namespace {

/// Text as troff prints it: nothing in it is a request, and dashes can be pasted.
std::string escaped(std::string_view text) {
    std::string safe;
    bool line_begins = true;
    for (const char c : text) {
        if (line_begins && (c == '.' || c == '\'')) safe += "\\&";
        line_begins = c == '\n';
        if (c == '\\') {
            safe += "\\e";
        } else if (c == '-') {
            safe += "\\-";
        } else if (c == '\'') {
            safe += "\\(aq";
        } else if (c == '`') {
            safe += "\\(ga";
        } else if (c == '~') {
            safe += "\\(ti";
        } else if (c == '^') {
            safe += "\\(ha";
        } else {
            safe += c;
        }
    }
    return safe;
}

std::string bold(std::string_view text) {
    return "\\fB" + escaped(text) + "\\fR";
}

std::string italic(std::string_view text) {
    return "\\fI" + escaped(text) + "\\fR";
}

std::string section(std::string_view title) {
    return ".SH " + std::string(title) + '\n';
}

/// Words as they stand, line by line.
std::string verbatim(std::string_view text) {
    while (!text.empty() && text.back() == '\n')
        text.remove_suffix(1);
    return text.empty() ? std::string() : ".PP\n.nf\n" + escaped(text) + "\n.fi\n";
}

std::string paragraph(std::string_view text) {
    return ".PP\n" + escaped(text) + '\n';
}

std::string term(const std::string& name, const std::string& text) {
    return ".TP\n" + name + '\n' + text + '\n';
}

std::string entry(const option_entry& option) {
    std::string names;
    for (const auto& each : option.names)
        names += (names.empty() ? "" : ", ") + bold(each);
    if (!option.value.empty()) names += ' ' + italic(option.value);
    auto help = escaped(option.help);
    if (!option.otherwise.empty()) help += " (" + escaped(option.otherwise) + ')';
    if (!option.variable.empty()) help += "; or from " + bold(option.variable);
    return term(names, help);
}

/// A positional: its name, and where it may be left out or is one of few words, that.
std::string positional_entry(const option_entry& positional) {
    auto name = italic(positional.names.front());
    if (!positional.value.empty()) name += ' ' + escaped(positional.value);
    return term(name, escaped(positional.help));
}

/// The options, those under a heading of their own last.
std::string entries(const command_entry& command) {
    std::string text;
    for (const auto& each : command.positionals)
        text += positional_entry(each);
    std::string group;
    auto options = command.options;
    std::ranges::stable_sort(options, {}, [](const auto& each) { return !each.group.empty(); });
    for (const auto& each : options) {
        if (each.group != group) text += paragraph(each.group + ":");
        group = each.group;
        text += entry(each);
    }
    return text;
}

std::string subsection(const command_entry& command) {
    std::string usage = command.path;
    for (const auto& each : command.positionals)
        usage += ' ' + each.names.front();
    return ".SS " + escaped(usage) + '\n' + escaped(command.help) + ".\n" + entries(command) +
           verbatim(command.commands.empty() ? command.examples : std::string());
}

std::string environment_section(const command_entry& top) {
    std::set<std::string> names;
    for (const auto* command : all_commands(top)) {
        for (const auto& option : command->options)
            if (!option.variable.empty()) names.insert(option.variable);
    }
    auto text = section("ENVIRONMENT");
    for (const auto& each : names)
        text += term(bold(each), "In place of the option that names it.");
    return text + term(bold("NO_COLOR"), "Where it is set and not empty, no colours.");
}

}  // namespace

std::string man_page(const command_entry& top, const std::string& version) {
    const auto colon = top.help.find(": ");
    const auto end = top.help.find(".\n");
    auto text = ".TH SHOVE 1 \"\" \"shove " + version + "\" \"User Commands\"\n" + section("NAME") + "shove \\- " +
                escaped(top.help.substr(colon + 2, end - colon - 2)) + '\n' + section("SYNOPSIS") + bold("shove") +
                " [" + italic("OPTIONS") + "] " + italic("COMMAND") + " ...\n" + section("DESCRIPTION") +
                escaped(top.help.substr(end + 2)) +
                "\nOptions of the section below may stand before or after the command.\n" + section("OPTIONS") +
                entries(top) + section("COMMANDS");
    for (const auto* each : all_commands(top)) {
        if (each != &top) text += subsection(*each);
    }
    return text + environment_section(top) + section("EXAMPLES") + verbatim(top.examples);
}

}  // namespace shove::cli
