#pragma once

#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>

// Integers as decimal text, eight digits at a time: about three times as fast as `to_chars`.
namespace shove::detail {

/// Room that `write_digits` needs, whatever the number.
inline constexpr std::size_t digits_room = 32;

/// The digits of a number below 10^8, the first in the lowest byte, as numbers.
inline std::uint64_t eight_digits_of(std::uint32_t value) {
    // Two halves of four digits, then four quarters of two, then eight single digits; a division
    // by 100 or 10 is a multiplication and a shift, exact for numbers as small as these.
    const std::uint64_t halves = value / 10'000 | std::uint64_t{value % 10'000} << 32;
    const std::uint64_t hundreds = (halves * 10'486 >> 20) & 0x0000'007F'0000'007F;
    const std::uint64_t quarters = hundreds | (halves - 100 * hundreds) << 16;
    const std::uint64_t tens = (quarters * 103 >> 10) & 0x000F'000F'000F'000F;
    return tens | (quarters - 10 * tens) << 8;
}

inline char* write_eight(char* at, std::uint64_t digits) {
    digits |= 0x3030'3030'3030'3030;
    std::memcpy(at, &digits, sizeof digits);
    return at + 8;
}

/// The same without leading zeros.
inline char* write_first(char* at, std::uint32_t value) {
    const auto digits = eight_digits_of(value);
    const int zeros = value == 0 ? 7 : std::countr_zero(digits) / 8;
    write_eight(at, digits >> (8 * zeros));
    return at + (8 - zeros);
}

inline char* write_rest(char* at, std::uint64_t value) {
    return write_eight(at, eight_digits_of(static_cast<std::uint32_t>(value)));
}

/// Writes a number; returns its end. Up to `digits_room` bytes are touched.
inline char* write_digits(char* at, std::uint64_t value) {
    constexpr std::uint64_t eight = 100'000'000;
    if constexpr (std::endian::native == std::endian::big) return std::to_chars(at, at + digits_room, value).ptr;
    if (value < eight) return write_first(at, static_cast<std::uint32_t>(value));
    if (value < eight * eight)
        return write_rest(write_first(at, static_cast<std::uint32_t>(value / eight)), value % eight);
    at = write_first(at, static_cast<std::uint32_t>(value / (eight * eight)));
    return write_rest(write_rest(at, value / eight % eight), value % eight);
}

}  // namespace shove::detail
