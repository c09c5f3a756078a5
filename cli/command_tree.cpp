#include "command_tree.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace shove::cli {
namespace {

/// The words of `skip|fail-all` and of CLI11's `{fast,slow}`; what is in capitals stands for many.
std::vector<std::string> words_of(std::string text) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789-";
    if (const auto brace = text.find('{'); brace != text.npos)
        text = text.substr(brace + 1, text.find('}') - brace - 1);
    std::ranges::replace(text, ',', '|');
    std::vector<std::string> words;
    if (text.find('|') == text.npos) return words;
    for (const auto& each : CLI::detail::split(text, '|')) {
        if (each.find_first_not_of(letters) == each.npos) words.push_back(each);
    }
    return words;
}

std::string joined(const std::vector<std::string>& words) {
    return CLI::detail::join(words, "|");
}

/// CLI11's name of a type, such as `UINT:POSITIVE`, as people write it.
std::string type_text(const CLI::Option& option, const std::vector<std::string>& words) {
    if (!words.empty()) return joined(words);
    const auto name = option.get_type_name();
    const auto type = name.substr(0, name.find(':'));
    return type == "TEXT" || type.empty() ? type : "N";
}

std::vector<std::string> names_of(const CLI::Option& option) {
    std::vector<std::string> names;
    if (option.get_positional()) return {option.get_name(true)};
    for (const auto& each : option.get_lnames())
        names.push_back("--" + each);
    for (const auto& each : option.get_snames())
        names.push_back("-" + each);
    return names;
}

option_entry described(const CLI::Option& option) {
    option_entry entry;
    entry.names = names_of(option);
    const auto& text = option.get_option_text();
    const bool takes_value = option.get_items_expected_max() > 0;
    if (takes_value) {
        entry.words = words_of(text.empty() ? option.get_type_name() : text);
        entry.value = text.empty() ? type_text(option, entry.words) : text;
    }
    entry.help = option.get_description();
    if (option.get_group() != "Options" && !option.get_positional()) entry.group = option.get_group();
    entry.otherwise = option.get_default_str();
    entry.variable = option.get_envname();
    return entry;
}

void collect(const command_entry& from, std::vector<const command_entry*>& into) {
    into.push_back(&from);
    for (const auto& each : from.commands)
        collect(each, into);
}

}  // namespace

command_entry describe_command(const CLI::App& app, const std::string& path) {
    command_entry entry;
    entry.path = path;
    entry.help = app.get_description();
    entry.examples = app.get_footer();
    for (const auto* option : app.get_options([](const CLI::Option* each) { return !each->get_group().empty(); })) {
        auto& list = option->get_positional() ? entry.positionals : entry.options;
        list.push_back(described(*option));
    }
    const auto below = app.get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
    for (const auto* each : below)
        entry.commands.push_back(describe_command(*each, path + ' ' + each->get_name()));
    return entry;
}

std::vector<const command_entry*> all_commands(const command_entry& top) {
    std::vector<const command_entry*> all;
    collect(top, all);
    return all;
}

std::vector<const option_entry*> options_of(const command_entry& top, const command_entry& command) {
    std::vector<const option_entry*> found;
    found.reserve(command.options.size() + top.options.size());
    for (const auto& each : command.options)
        found.push_back(&each);
    for (const auto& each : top.options) {
        const bool known = std::ranges::any_of(found, [&each](const auto* own) { return own->names == each.names; });
        if (!known && each.names.front() != "--version") found.push_back(&each);
    }
    return found;
}

}  // namespace shove::cli
