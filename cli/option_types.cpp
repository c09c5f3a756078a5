#include "option_types.hpp"

#include <CLI/CLI.hpp>

#include "duration.hpp"
#include "json_parts.hpp"

namespace shove::cli {
namespace {

/// The error names the value; CLI11 puts the option's name before it.
milliseconds duration_or_throw(const std::string& names, const std::string& text) {
    const auto found = parse_duration(text);
    if (found) return *found;
    throw CLI::ValidationError(names, "'" + text + "' is not a duration; give " + std::string(duration_form));
}

wall_time moment_or_throw(const std::string& names, const std::string& text) {
    if (const auto back = parse_duration(text)) {
        return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()) - *back;
    }
    json_values values;
    const auto at = text.find_first_of("\"\\") == text.npos ? values.time('"' + text + '"') : std::nullopt;
    if (at) return *at;
    throw CLI::ValidationError(names, "'" + text + "' is neither a time such as 2026-01-31T12:00:00Z nor a duration " +
                                          "back from now such as 1h");
}

}  // namespace

CLI::Option* add_duration(CLI::App& app, const std::string& names, milliseconds& into, const std::string& help) {
    return app
        .add_option_function<std::string>(
            names, [names, &into](const std::string& text) { into = duration_or_throw(names, text); }, help)
        ->option_text("DURATION");
}

CLI::Option* add_duration(CLI::App& app, const std::string& names, std::optional<milliseconds>& into,
                          const std::string& help) {
    return app
        .add_option_function<std::string>(
            names, [names, &into](const std::string& text) { into = duration_or_throw(names, text); }, help)
        ->option_text("DURATION");
}

CLI::Option* add_duration_or_none(CLI::App& app, const std::string& names, std::optional<milliseconds>& into,
                                  const std::string& help) {
    const auto set = [names, &into](const std::string& text) {
        into = text == "none" ? std::nullopt : std::optional(duration_or_throw(names, text));
    };
    return app.add_option_function<std::string>(names, set, help)->option_text("DURATION|none");
}

CLI::Option* add_durations(CLI::App& app, const std::string& names, std::vector<milliseconds>& into,
                           const std::string& help) {
    const auto set = [names, &into](const std::vector<std::string>& texts) {
        into.clear();
        for (const auto& text : texts)
            into.push_back(duration_or_throw(names, text));
    };
    return app.add_option_function<std::vector<std::string>>(names, set, help)
        ->delimiter(',')
        ->allow_extra_args(false)
        ->option_text("DURATION,...");
}

CLI::Option* add_moment(CLI::App& app, const std::string& names, std::optional<wall_time>& into,
                        const std::string& help) {
    return app
        .add_option_function<std::string>(
            names, [names, &into](const std::string& text) { into = moment_or_throw(names, text); }, help)
        ->option_text("TIME|DURATION");
}

CLI::Option* must_be_positive(CLI::Option* option) {
    const auto check = [](const std::string& text) {
        double value = 0;
        const bool fine = CLI::detail::lexical_cast(text, value) && value > 0;
        return fine ? std::string() : "'" + text + "' is not a number above zero";
    };
    return option->check(check, "POSITIVE");
}

}  // namespace shove::cli
