#include <shove/spi/url_text.hpp>
#include <shove/sqlite.hpp>

#include <limits>
#include <optional>
#include <string>

namespace shove {

namespace {

constexpr std::string_view remedy = "; write sqlite:relative.db or sqlite:///absolute/path.db";

error wrong(std::string text) {
    return {errc::invalid_argument, std::move(text)};
}

/// `500ms`, `30s`, `5m`.
std::optional<std::chrono::milliseconds> option_duration(std::string_view text) {
    constexpr std::chrono::milliseconds no_unit{0};
    const auto read = spi::duration(text, no_unit);
    if (!read || read->count() < 1) return std::nullopt;
    return read;
}

error set_option(sqlite::config& made, std::string_view name, std::string_view value) {
    const auto bad = [&](std::string_view expected) {
        return wrong("sqlite URL: option '" + std::string(name) + "' cannot be '" + std::string(value) + "'; give " +
                     std::string(expected));
    };
    const auto set_duration = [&](std::chrono::milliseconds& into) {
        const auto read = option_duration(value);
        if (!read) return bad("a duration such as 500ms, 30s or 5m");
        into = *read;
        return error();
    };
    const auto set_count = [&](std::size_t& into) {
        const auto read = spi::whole_number(value);
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
    const auto path = spi::percent_decoded(rest);
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
