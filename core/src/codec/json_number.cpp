#include "json_scalar.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <system_error>

namespace shove::detail {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Skips one or more digits; null if there is none.
const char* skip_digits(const char* at, const char* end) {
    if (at == nullptr || at == end || !is_digit(*at)) return nullptr;
    while (at != end && is_digit(*at))
        ++at;
    return at;
}

const char* skip_integer(const char* at, const char* end) {
    if (at != end && *at == '-') ++at;
    if (at != end && *at == '0') return at + 1;
    return skip_digits(at, end);
}

const char* skip_exponent(const char* at, const char* end) {
    ++at;
    if (at != end && (*at == '+' || *at == '-')) ++at;
    return skip_digits(at, end);
}

/// True if all eight bytes are digits.
bool eight_digits(std::uint64_t bytes) {
    return ((bytes & 0xF0F0F0F0F0F0F0F0U) | (((bytes + 0x0606060606060606U) & 0xF0F0F0F0F0F0F0F0U) >> 4)) ==
           0x3333333333333333U;
}

/// The value of eight digits, the first in the lowest byte.
std::uint64_t value_of_eight(std::uint64_t bytes) {
    bytes -= 0x3030303030303030U;
    bytes = bytes * 10 + (bytes >> 8);
    return (((bytes & 0x000000FF000000FFU) * 0x000F424000000064U) +
            (((bytes >> 16) & 0x000000FF000000FFU) * 0x0000271000000001U)) >>
           32;
}

const char* take_eights(const char* at, const char* end, std::uint64_t& value) {
    while (end - at >= 8) {
        std::uint64_t bytes = 0;
        std::memcpy(&bytes, at, sizeof bytes);
        if constexpr (std::endian::native == std::endian::big) break;
        if (!eight_digits(bytes)) break;
        value = value * 100'000'000 + value_of_eight(bytes);
        at += 8;
    }
    return at;
}

/// The number behind an optional sign, which fits 64 bits if the problem is `none`.
number_problem parse_magnitude(std::string_view text, bool& negative, std::uint64_t& into) {
    negative = text.starts_with('-');
    const char* const first = text.data() + (negative ? 1 : 0);
    const char* const end = text.data() + text.size();
    const auto size = end - first;
    if (size == 0 || (*first == '0' && size > 1) || size > 19) {
        if (!is_number(text)) return number_problem::syntax;
        const bool integer = text.find_first_of(".eE") == std::string_view::npos;
        if (!integer) return number_problem::fraction;
        return std::from_chars(first, end, into).ec == std::errc() ? number_problem::none : number_problem::range;
    }
    std::uint64_t value = 0;
    const char* at = take_eights(first, end, value);
    while (at != end && is_digit(*at))
        value = value * 10 + static_cast<std::uint64_t>(*at++ - '0');
    into = value;
    if (at == end) return number_problem::none;
    return is_number(text) ? number_problem::fraction : number_problem::syntax;
}

/// True if a number, which is not zero, is 1 or more; by its digits and its exponent alone.
bool is_large(std::string_view text) {
    const auto mark = std::min(text.find_first_of("eE"), text.size());
    const auto mantissa = text.substr(0, mark);
    const auto point = static_cast<std::int64_t>(std::min(mantissa.find('.'), mantissa.size()));
    const auto digit = static_cast<std::int64_t>(mantissa.find_first_of("123456789"));
    const bool negative = mark + 1 < text.size() && text[mark + 1] == '-';
    auto exponent = text.substr(std::min(mark + 1, text.size()));
    if (exponent.starts_with('+')) exponent.remove_prefix(1);
    std::int64_t shift = 0;
    const auto ec = std::from_chars(exponent.data(), exponent.data() + exponent.size(), shift).ec;
    if (ec == std::errc::result_out_of_range) return !negative;
    return shift > digit - point;  // no sum with `shift`: the text may name any 64-bit number
}

template <class T>
number_problem parse_any_floating(std::string_view text, T& into) {
    if (!is_number(text)) return number_problem::syntax;
    T value = 0;
    const auto ec = std::from_chars(text.data(), text.data() + text.size(), value).ec;
    if (!std::isfinite(value) || (ec != std::errc() && is_large(text))) return number_problem::range;
    into = ec == std::errc() ? value : std::copysign(T{0}, text.starts_with('-') ? T{-1} : T{1});
    return number_problem::none;
}

}  // namespace

bool is_number(std::string_view text) {
    const char* at = text.data();
    const char* const end = at + text.size();
    at = skip_integer(at, end);
    if (at != nullptr && at != end && *at == '.') at = skip_digits(at + 1, end);
    if (at != nullptr && at != end && (*at == 'e' || *at == 'E')) at = skip_exponent(at, end);
    return at != nullptr && at == end;
}

number_problem parse_unsigned(std::string_view text, std::uint64_t most, std::uint64_t& into) {
    bool negative = false;
    std::uint64_t value = 0;
    const auto problem = parse_magnitude(text, negative, value);
    if (problem != number_problem::none) return problem;
    if (value > most || (negative && value != 0)) return number_problem::range;
    into = value;
    return number_problem::none;
}

number_problem parse_signed(std::string_view text, std::int64_t least, std::int64_t most, std::int64_t& into) {
    bool negative = false;
    std::uint64_t value = 0;
    const auto problem = parse_magnitude(text, negative, value);
    if (problem != number_problem::none) return problem;
    const auto limit = std::uint64_t{1} << 63;
    if (value > limit || (value == limit && !negative)) return number_problem::range;
    const auto number = static_cast<std::int64_t>(negative ? 0 - value : value);
    if (number < least || number > most) return number_problem::range;
    into = number;
    return number_problem::none;
}

number_problem parse_floating(std::string_view text, double& into) {
    return parse_any_floating(text, into);
}

number_problem parse_floating(std::string_view text, float& into) {
    return parse_any_floating(text, into);
}

}  // namespace shove::detail
