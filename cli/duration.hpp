#pragma once

#include <shove/clock.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace shove::cli {

/// Reads `500ms`, `1s`, `5m`, `1h` or `2d`: a whole number and its unit. Nothing for anything else, and for
/// more than a thousand years.
std::optional<milliseconds> parse_duration(std::string_view text) noexcept;

/// What a duration looks like, for error texts.
inline constexpr std::string_view duration_form = "a whole number and a unit: 500ms, 1s, 5m, 1h or 2d";

/// The shortest exact form: `90s`, `5m`, `1500ms`.
std::string format_duration(milliseconds value);

/// An age in its largest unit, `3m`; `-` where there is none.
std::string age_text(const std::optional<milliseconds>& age);

}  // namespace shove::cli
