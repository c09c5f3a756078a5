#include "json_parts.hpp"

#include <shove/json.hpp>

#include <cstring>
#include <span>

namespace shove::cli {
namespace {

/// What one line of the command may hold is limited by the line alone.
struct wide_json : basic_json<json_limits{1'024, SIZE_MAX, SIZE_MAX}> {};

constexpr std::string_view blanks = " \t\r\n";

void skip_blanks(std::string_view& rest) {
    rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
}

/// Characters of the string that begins here, with its quotes.
std::size_t string_size(std::string_view rest) noexcept {
    std::size_t at = 1;
    while (at < rest.size() && rest[at] != '"')
        at += rest[at] == '\\' ? 2 : 1;
    return std::min(at + 1, rest.size());
}

/// Characters of the array or object that begins here.
std::size_t nested_size(std::string_view rest) noexcept {
    std::size_t open = 0;
    for (std::size_t at = 0; at < rest.size();) {
        const char c = rest[at];
        if (c == '"') {
            at += string_size(rest.substr(at));
            continue;
        }
        ++at;
        if (c == '{' || c == '[') ++open;
        if ((c == '}' || c == ']') && --open == 0) return at;
    }
    return rest.size();
}

std::string_view take_value(std::string_view& rest) {
    skip_blanks(rest);
    std::size_t size = 0;
    if (rest.empty()) return {};
    if (rest[0] == '"') {
        size = string_size(rest);
    } else if (rest[0] == '{' || rest[0] == '[') {
        size = nested_size(rest);
    } else {
        size = std::min(rest.find_first_of(",]} \t\r\n"), rest.size());
    }
    const auto value = rest.substr(0, size);
    rest.remove_prefix(size);
    skip_blanks(rest);
    return value;
}

/// What stands between the brackets; nothing if there are others.
std::optional<std::string_view> inside(std::string_view json, char open) {
    skip_blanks(json);
    if (json.empty() || json[0] != open) return std::nullopt;
    auto rest = json.substr(1, nested_size(json) - 2);
    skip_blanks(rest);
    return rest;
}

void skip_one(std::string_view& rest, char c) {
    if (!rest.empty() && rest[0] == c) rest.remove_prefix(1);
}

}  // namespace

std::optional<std::vector<json_member>> members_of(std::string_view json) {
    auto rest = inside(json, '{');
    if (!rest) return std::nullopt;
    std::vector<json_member> found;
    while (!rest->empty()) {
        json_member each;
        each.key = take_value(*rest);
        skip_one(*rest, ':');
        each.value = take_value(*rest);
        skip_one(*rest, ',');
        found.push_back(each);
    }
    return found;
}

std::optional<std::vector<std::string_view>> elements_of(std::string_view json) {
    auto rest = inside(json, '[');
    if (!rest) return std::nullopt;
    std::vector<std::string_view> found;
    while (!rest->empty()) {
        found.push_back(take_value(*rest));
        skip_one(*rest, ',');
    }
    return found;
}

std::size_t depth_of(std::string_view json) noexcept {
    std::size_t deepest = 0;
    std::size_t open = 0;
    for (std::size_t at = 0; at < json.size();) {
        const char c = json[at];
        if (c == '"') {
            at += string_size(json.substr(at));
            continue;
        }
        ++at;
        if (c == '{' || c == '[') deepest = std::max(deepest, ++open);
        if (c == '}' || c == ']') --open;
    }
    return deepest;
}

template <class T>
std::optional<T> json_values::read(std::string_view json) {
    T into{};
    if (!wide_json::decode(std::as_bytes(std::span(json)), into, scratch_)) return std::nullopt;
    return into;
}

std::optional<std::string> json_values::text(std::string_view json) {
    return read<std::string>(json);
}

std::optional<std::string> json_values::bytes(std::string_view json) {
    const auto found = read<std::vector<std::byte>>(json);
    if (!found) return std::nullopt;
    std::string as_text(found->size(), '\0');
    if (!found->empty()) std::memcpy(as_text.data(), found->data(), found->size());
    return as_text;
}

std::optional<std::int64_t> json_values::integer(std::string_view json) {
    return read<std::int64_t>(json);
}

std::optional<double> json_values::number(std::string_view json) {
    return read<double>(json);
}

std::optional<wall_time> json_values::time(std::string_view json) {
    return read<wall_time>(json);
}

}  // namespace shove::cli
