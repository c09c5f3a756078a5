#include "process_environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "envelope.hpp"

namespace shove::cli {
namespace {

/// The system refuses a single variable of 128 KiB.
constexpr std::size_t largest_variable = std::size_t{96} * 1024;

constexpr std::array<std::string_view, 12> names{"SHOVE_ID",         "SHOVE_QUEUE",        "SHOVE_ATTEMPT",
                                                 "SHOVE_KEY",        "SHOVE_HEADERS",      "SHOVE_ID_BASE64",
                                                 "SHOVE_KEY_BASE64", "SHOVE_HEADERS_FILE", "SHOVE_CONTENT_TYPE",
                                                 "SHOVE_TYPE",       "SHOVE_REDELIVERED",  "SHOVE_PUBLISHED_AT"};

bool is_ours(std::string_view variable) {
    return std::ranges::find(names, variable.substr(0, variable.find('='))) != names.end();
}

/// A C string cannot hold a zero byte: such a value goes in base64 under another name.
void add(std::vector<std::string>& to, const std::string& name, std::string_view value) {
    if (value.find('\0') == value.npos) {
        to.push_back(name + "=" + std::string(value));
    } else {
        to.push_back(name + "_BASE64=" + header_value(std::as_bytes(std::span(value))).to_string());
    }
}

std::string time_text(wall_time at) {
    std::string text;
    detail::json_writer writer(text);
    if (!writer.time(at.time_since_epoch().count(), 1, 1'000'000)) return {};
    writer.flush();
    return text.substr(1, text.size() - 2);
}

}  // namespace

process_environment process_environment::of(const delivery& message) {
    process_environment made;
    auto& variables = made.variables;
    for (char** each = environ; each && *each; ++each) {
        if (!is_ours(*each)) variables.emplace_back(*each);
    }
    add(variables, "SHOVE_ID", message.id());
    add(variables, "SHOVE_QUEUE", message.queue());
    add(variables, "SHOVE_ATTEMPT", std::to_string(message.attempt()));
    add(variables, "SHOVE_REDELIVERED", message.redelivered() ? "true" : "false");
    if (message.key()) add(variables, "SHOVE_KEY", *message.key());
    if (!message.content_type().empty()) add(variables, "SHOVE_CONTENT_TYPE", message.content_type());
    if (!message.type().empty()) add(variables, "SHOVE_TYPE", message.type());
    if (message.published_at() != wall_time{}) add(variables, "SHOVE_PUBLISHED_AT", time_text(message.published_at()));
    auto headers = headers_as_json(message.headers());
    if (headers.size() <= largest_variable) {
        add(variables, "SHOVE_HEADERS", headers);
    } else {
        made.side_file = std::move(headers);
        variables.emplace_back("SHOVE_HEADERS_FILE=/proc/self/fd/3");
    }
    return made;
}

}  // namespace shove::cli
