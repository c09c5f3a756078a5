#include <shove/sqlite.hpp>

#include <charconv>
#include <limits>
#include <optional>
#include <string>

namespace shove {

namespace {

constexpr std::string_view remedy = "; write sqlite:relative.db or sqlite:///absolute/path.db";

error wrong(std::string text) {
    return {errc::invalid_argument, std::move(text)};
}

std::optional<unsigned> hex_digit(char c) {
    if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
    const char lower = static_cast<char>(c | 0x20);
    if (lower >= 'a' && lower <= 'f') return static_cast<unsigned>(lower - 'a' + 10);
    return std::nullopt;
}

/// Undoes `%41`; nothing if that is malformed or stands for a NUL.
std::optional<std::string> percent_decoded(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            plain.push_back(text[i]);
            continue;
        }
        if (i + 2 >= text.size()) return std::nullopt;
        const auto high = hex_digit(text[i + 1]);
        const auto low = hex_digit(text[i + 2]);
        if (!high || !low || (*high == 0 && *low == 0)) return std::nullopt;
        plain.push_back(static_cast<char>(*high * 16 + *low));
        i += 2;
    }
    return plain;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
    return value;
}

/// `500ms`, `30s`, `5m`.
std::optional<std::chrono::milliseconds> duration(std::string_view text) {
    const auto digits = text.find_first_not_of("0123456789");
    if (digits == text.npos || digits == 0) return std::nullopt;
    const auto unit = text.substr(digits);
    const std::int64_t factor = unit == "ms" ? 1 : unit == "s" ? 1000 : unit == "m" ? 60'000 : 0;
    const auto count = whole_number(text.substr(0, digits));
    if (factor == 0 || !count || *count < 1 || *count > 86'400'000) return std::nullopt;
    return std::chrono::milliseconds(*count * factor);
}

error set_option(sqlite::config& made, std::string_view name, std::string_view value) {
    const auto bad = [&](std::string_view expected) {
        return wrong("sqlite URL: option '" + std::string(name) + "' cannot be '" + std::string(value) + "'; give " +
                     std::string(expected));
    };
    const auto set_duration = [&](std::chrono::milliseconds& into) {
        const auto read = duration(value);
        if (!read) return bad("a duration such as 500ms, 30s or 5m");
        into = *read;
        return error();
    };
    const auto set_count = [&](std::size_t& into) {
        const auto read = whole_number(value);
        if (!read || *read < 1) return bad("a whole number above 0");
        into = static_cast<std::size_t>(*read);
        return error();
    };
    if (name == "lease") return set_duration(made.lease);
    if (name == "poll") return set_duration(made.poll);
    if (name == "busy_timeout") return set_duration(made.busy_timeout);
    if (name == "max_queued_publishes") return set_count(made.max_queued_publishes);
    if (name == "max_queued_bytes") return set_count(made.max_queued_bytes);
    if (name != "durability") {
        return wrong("sqlite URL: unknown option '" + std::string(name) +
                     "'; known are durability, lease, poll, busy_timeout, max_queued_publishes, max_queued_bytes");
    }
    if (value != "full" && value != "normal") return bad("full or normal");
    made.durability = value == "full" ? sqlite::durability::full : sqlite::durability::normal;
    return {};
}

error set_options(sqlite::config& made, std::string_view query) {
    while (!query.empty()) {
        const auto end = query.find('&');
        const auto option = query.substr(0, end);
        const auto equals = option.find('=');
        const auto value = equals == option.npos ? std::string_view() : option.substr(equals + 1);
        if (auto cause = set_option(made, option.substr(0, equals), value)) return cause;
        query = end == query.npos ? std::string_view() : query.substr(end + 1);
    }
    return {};
}

error set_path(sqlite::config& made, std::string_view rest) {
    if (rest.starts_with("//")) {
        rest.remove_prefix(2);
        if (!rest.starts_with('/')) return wrong("sqlite URL: a host makes no sense for a file" + std::string(remedy));
    }
    const auto path = percent_decoded(rest);
    if (!path) return wrong("sqlite URL: a % in the path must be followed by two hexadecimal digits, not 00");
    if (path->empty() || path->ends_with('/'))
        return wrong("sqlite URL: the file's name is missing" + std::string(remedy));
    if (*path == ":memory:" || path->starts_with("file:")) {
        return wrong("sqlite URL: '" + *path + "' is not a durable file; for a queue in memory use memory:");
    }
    made.path = *path;
    return {};
}

}  // namespace

result<sqlite::config> sqlite::parse(std::string_view url) {
    constexpr std::string_view scheme = "sqlite:";
    if (!url.starts_with(scheme)) return wrong("not an sqlite URL" + std::string(remedy));
    const auto question = url.find('?');
    config made;
    if (auto cause =
            set_path(made, url.substr(scheme.size(), question == url.npos ? url.npos : question - scheme.size()))) {
        return cause;
    }
    if (question == url.npos) return made;
    if (auto cause = set_options(made, url.substr(question + 1))) return cause;
    return made;
}

}  // namespace shove
