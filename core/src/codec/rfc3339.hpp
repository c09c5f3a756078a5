#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace shove::detail {

/// A moment: whole seconds since 1970, and nanoseconds from 0 to 999,999,999 after them.
struct moment {
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
};

/// `count` units of `num / den` seconds; nothing if out of range.
std::optional<moment> moment_from_count(std::int64_t count, std::int64_t num, std::int64_t den);
/// The other way, rounded down to the unit.
std::optional<std::int64_t> count_from_moment(const moment& at, std::int64_t num, std::int64_t den);

/// Room for the longest time.
inline constexpr std::size_t rfc3339_size = 30;
/// Writes the time in UTC with 0, 3, 6 or 9 digits of fraction, as many as it needs.
/// @return The characters written; none outside the years 0 to 9999.
std::size_t format_rfc3339(const moment& at, std::span<char, rfc3339_size> out);
/// Reads a time with `Z` or an offset and up to nine digits of fraction; more are dropped.
std::optional<moment> parse_rfc3339(std::string_view text);

}  // namespace shove::detail
