#include <shove/inprocess.hpp>

#include "driver.hpp"

#include <charconv>
#include <string>

namespace shove {
namespace {

error bad_url(std::string_view url, const std::string& why) {
    return {errc::invalid_argument,
            "'" + std::string(url) + "': " + why + "; the form is memory:?capacity=N&max_bytes=N"};
}

/// Takes one `name=value` into the configuration. Gives what is wrong, or nothing.
std::string take_option(std::string_view option, inprocess::config& into) {
    const auto equals = option.find('=');
    const std::string name(option.substr(0, equals));
    if (name != "capacity" && name != "max_bytes") return "unknown option '" + name + "'";
    const std::string_view text = equals == option.npos ? std::string_view() : option.substr(equals + 1);
    std::size_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size() || value == 0) {
        return name + " must be a whole number of at least 1, not '" + std::string(text) + "'";
    }
    if (name == "capacity") {
        into.capacity = value;
    } else {
        into.max_bytes = value;
    }
    return {};
}

}  // namespace

result<inprocess::config> inprocess::parse(std::string_view url) {
    constexpr std::string_view scheme = "memory:";
    if (!url.starts_with(scheme)) return bad_url(url, "not a memory URL");
    const auto mark = std::min(url.find('?'), url.size());
    const auto name = url.substr(scheme.size(), mark - scheme.size());
    if (!name.empty() && name != "//") return bad_url(url, "an in-process broker has no name or place");
    config settings;
    for (auto rest = url.substr(std::min(mark + 1, url.size())); !rest.empty();) {
        const auto end = std::min(rest.find('&'), rest.size());
        if (const auto wrong = take_option(rest.substr(0, end), settings); !wrong.empty()) return bad_url(url, wrong);
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return settings;
}

result<std::shared_ptr<spi::driver>> inprocess::open(const config& settings, const spi::driver_context& context) {
    if (settings.capacity == 0) return error(errc::invalid_argument, "in-process: capacity must be at least 1");
    if (settings.max_bytes == 0u) return error(errc::invalid_argument, "in-process: max_bytes must be at least 1");
    if (!context.clock) return error(errc::invalid_argument, "in-process: the driver needs a clock");
    return std::shared_ptr<spi::driver>(std::make_shared<in_memory::driver>(settings, context.clock));
}

}  // namespace shove
