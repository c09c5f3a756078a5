#pragma once

#include <shove/error.hpp>
#include <shove/spi/url_text.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

/// Reading `name=value&name=value`, the options of a URL, into a backend's configuration.
namespace shove::spi {

/// One option: what it is called, how its value is entered, and whether that may be shown in an error.
template <class Config>
struct url_option {
    std::string_view name;
    /// Enters a value; gives what it should have been where it cannot be entered, else nothing.
    std::string_view (*set)(Config&, const std::string& value);
    bool secret = false;
};

template <class Config, auto Member>
std::string_view set_text(Config& into, const std::string& value) {
    into.*Member = value;
    return {};
}

template <class Config, auto Member>
std::string_view set_flag(Config& into, const std::string& value) {
    const auto read = truth(value);
    if (!read) return "true or false";
    into.*Member = *read;
    return {};
}

template <class Config, auto Member>
std::string_view set_count(Config& into, const std::string& value) {
    using number = std::remove_reference_t<decltype(into.*Member)>;
    const auto read = whole_number(value);
    if (!read || *read > static_cast<std::uint64_t>(std::numeric_limits<number>::max()))
        return "a whole number in its range";
    into.*Member = static_cast<number>(*read);
    return {};
}

/// A bare number means milliseconds.
template <class Config, auto Member>
std::string_view set_duration(Config& into, const std::string& value) {
    const auto read = duration(value, std::chrono::milliseconds(1));
    if (!read) return "milliseconds, or a duration such as 500ms or 5s";
    into.*Member = *read;
    return {};
}

/// Enters options, each value percent-decoded.
/// @param prefix   Of each error: `RabbitMQ URL: `.
/// @param unknown  `error(std::string_view name, std::string value)`: called for a name that is not in the list.
/// @return  `errc::invalid_argument` for the first that is wrong. The detail names the option, and its value unless
/// that
///          may be a secret.
template <class Config, class Unknown>
error read_url_options(Config& into, std::string_view query, std::span<const url_option<Config>> known,
                       std::string_view prefix, Unknown&& unknown) {
    const auto wrong = [&](const std::string& text) {
        return error(errc::invalid_argument, std::string(prefix) + text);
    };
    const auto enter = [&](const std::string& name, std::string_view encoded) -> error {
        auto value = percent_decoded(encoded);
        if (!value)
            return wrong("a % in the value of option '" + name +
                         "' must be followed by two hexadecimal digits, not 00");
        const auto found = std::ranges::find(known, name, &url_option<Config>::name);
        if (found == known.end()) return unknown(name, std::move(*value));
        const auto expected = found->set(into, *value);
        if (expected.empty()) return {};
        return wrong("option '" + name + "' cannot be " + (found->secret ? "that" : "'" + *value + "'") + "; give " +
                     std::string(expected));
    };
    while (!query.empty()) {
        const auto end = query.find('&');
        const auto one = query.substr(0, end);
        const auto equals = one.find('=');
        const auto value = equals == one.npos ? std::string_view() : one.substr(equals + 1);
        if (auto cause = enter(std::string(one.substr(0, equals)), value)) return cause;
        query = end == query.npos ? std::string_view() : query.substr(end + 1);
    }
    return {};
}

/// `unknown option 'x'; known are a, b`: for `unknown`.
template <class Config>
error unknown_url_option(std::string_view name, std::span<const url_option<Config>> known, std::string_view prefix) {
    std::string text = std::string(prefix) + "unknown option '" + std::string(name) + "'; known are ";
    for (bool first = true; const auto& each : known) {
        text.append(first ? "" : ", ").append(each.name);
        first = false;
    }
    return {errc::invalid_argument, std::move(text)};
}

}  // namespace shove::spi
