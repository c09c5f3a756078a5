#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shove::detail {

enum class number_problem : std::uint8_t {
    none,
    syntax,    ///< Not a JSON number at all.
    fraction,  ///< A number, but with a fraction or an exponent.
    range,     ///< Outside the limits.
};

/// True if the whole text is a number by JSON's grammar.
bool is_number(std::string_view text);

number_problem parse_signed(std::string_view text, std::int64_t least, std::int64_t most, std::int64_t& into);
number_problem parse_unsigned(std::string_view text, std::uint64_t most, std::uint64_t& into);
/// The nearest value; too small a number is zero, too large a one is a `range` problem.
number_problem parse_floating(std::string_view text, double& into);
number_problem parse_floating(std::string_view text, float& into);

/// Replaces JSON's escapes in the raw text of a string.
/// @return False for an invalid escape or half a surrogate pair.
bool unescape(std::string_view raw, std::string& into);

}  // namespace shove::detail
