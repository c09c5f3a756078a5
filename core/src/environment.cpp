#include <shove/environment.hpp>
#include <shove/error.hpp>

#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "decide/bounded_text.hpp"

namespace shove {
namespace {

constexpr std::uint64_t most_seconds = 1'000'000'000;

char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string lowered(std::string_view text) {
    std::string low(text);
    std::ranges::transform(low, low.begin(), lower);
    return low;
}

std::string_view trimmed(std::string_view text) noexcept {
    constexpr std::string_view blanks = " \t\r\n\v\f";
    const auto first = text.find_first_not_of(blanks);
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool is_secret(std::string_view name) {
    const auto low = lowered(name);
    return std::ranges::any_of(std::array{"password", "token", "secret", "key"},
                               [&low](const char* word) { return low.find(word) != low.npos; });
}

/// A value as an error may show it.
std::string shown(std::string_view name, std::string_view value) {
    if (is_secret(name)) return "(a value that is not shown)";
    auto text = decide::bounded_text(value, 200);
    std::ranges::replace_if(
        text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7F'; }, '?');
    return "'" + text + "'";
}

/// The whole text as a number; a plus sign is fine.
template <class T>
std::optional<T> whole_number(std::string_view text) {
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    T value{};
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

template <class T>
std::string range_text(T low, T high) {
    return std::to_string(low) + "..=" + std::to_string(high);
}

/// As short as it can be, and read back to the same number.
std::string range_text(double low, double high) {
    std::array<char, 64> buffer;
    const auto text = [&buffer](double value) {
        return std::string(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr);
    };
    return text(low) + "..=" + text(high);
}

}  // namespace

environment environment::from_env(std::string_view prefix) {
    variables found;
    const auto start = prefix.empty() ? std::string() : std::string(prefix) + '_';
    for (char** each = environ; each && *each; ++each) {
        const std::string_view line(*each);
        const auto sign = line.find('=');
        if (sign == line.npos || !line.starts_with(start)) continue;
        found.emplace(line.substr(0, sign), line.substr(sign + 1));
    }
    return {prefix, std::move(found)};
}

environment environment::from_pairs(std::string_view prefix, variables given) {
    return {prefix, std::move(given)};
}

std::string environment::name_of(std::string_view key) const {
    return prefix_.empty() ? std::string(key) : prefix_ + '_' + std::string(key);
}

std::optional<std::string> environment::text(std::string_view key) const {
    const auto found = given_.find(name_of(key));
    if (found == given_.end()) return std::nullopt;
    const auto value = trimmed(found->second);
    if (value.empty()) return std::nullopt;
    if (!simdjson::validate_utf8(value.data(), value.size())) refuse(key, "valid UTF-8");
    return std::string(value);
}

std::optional<std::int64_t> environment::number(std::string_view key, std::int64_t low, std::int64_t high) const {
    const auto given = text(key);
    if (!given) return std::nullopt;
    const auto value = whole_number<std::int64_t>(*given);
    if (!value || *value < low || *value > high) refuse(key, "a whole number in " + range_text(low, high));
    return value;
}

std::optional<std::uint64_t> environment::number(std::string_view key, std::uint64_t low, std::uint64_t high) const {
    const auto given = text(key);
    if (!given) return std::nullopt;
    const auto value = whole_number<std::uint64_t>(*given);
    if (!value || *value < low || *value > high) refuse(key, "a whole number in " + range_text(low, high));
    return value;
}

std::optional<double> environment::number(std::string_view key, double low, double high) const {
    const auto given = text(key);
    if (!given) return std::nullopt;
    const auto value = whole_number<double>(*given);
    if (!value || !std::isfinite(*value)) refuse(key, "a finite number");
    if (*value < low || *value > high) refuse(key, "a number in " + range_text(low, high));
    return value;
}

std::optional<bool> environment::flag(std::string_view key) const {
    const auto given = text(key);
    if (!given) return std::nullopt;
    const auto word = lowered(*given);
    for (const auto* yes : {"true", "1", "yes", "on"}) {
        if (word == yes) return true;
    }
    for (const auto* no : {"false", "0", "no", "off"}) {
        if (word == no) return false;
    }
    refuse(key, "true or false, 1 or 0, yes or no, on or off");
}

std::optional<std::chrono::seconds> environment::secs(std::string_view key, std::uint64_t low) const {
    const auto given = parse_in<std::uint64_t>(key, low, most_seconds);
    return given ? std::optional(std::chrono::seconds(static_cast<std::int64_t>(*given))) : std::nullopt;
}

bool environment::same_choice(std::string_view given, std::string_view name) noexcept {
    const auto next = [](std::string_view& text) {
        while (!text.empty() && (text[0] == '-' || text[0] == '_'))
            text.remove_prefix(1);
        if (text.empty()) return '\0';
        const char c = lower(text[0]);
        text.remove_prefix(1);
        return c;
    };
    for (;;) {
        const char one = next(given);
        if (one != next(name)) return false;
        if (one == '\0') return true;
    }
}

std::string environment::describe(std::string_view key) const {
    auto name = name_of(key);
    const auto found = given_.find(name);
    const auto value = found == given_.end() ? std::string_view() : trimmed(found->second);
    return name + (value.empty() ? " is not set" : " is " + shown(name, value));
}

void environment::refuse(std::string_view key, std::string_view expected) const {
    throw exception(
        error(errc::invalid_argument, "the variable " + describe(key) + "; expected " + std::string(expected)));
}

}  // namespace shove
