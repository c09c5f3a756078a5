#include <shove/detail/utf8.hpp>

#include <cstdint>
#include <cstring>

namespace shove::detail {

namespace {

constexpr bool is_continuation(unsigned char c) noexcept {
    return (c & 0xC0) == 0x80;
}

/// Bytes of the character that begins here; 0: none does.
std::size_t character_size(const unsigned char* at, std::size_t left) noexcept {
    const unsigned char first = at[0];
    if (first < 0x80) return 1;
    const std::size_t size = first >= 0xC2 && first < 0xE0   ? 2
                             : (first & 0xF0) == 0xE0        ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
    if (size == 0 || size > left) return 0;
    for (std::size_t i = 1; i < size; ++i) {
        if (!is_continuation(at[i])) return 0;
    }
    const unsigned char second = at[1];
    const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    const bool surrogate = first == 0xED && second > 0x9F;
    const bool too_high = first == 0xF4 && second > 0x8F;
    return overlong || surrogate || too_high ? 0 : size;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
    const auto* at = reinterpret_cast<const unsigned char*>(text.data());
    for (std::size_t left = text.size(); left > 0;) {
        std::uint64_t eight = 0x80;
        if (left >= sizeof eight) std::memcpy(&eight, at, sizeof eight);
        const bool ascii = left >= sizeof eight && (eight & 0x8080808080808080u) == 0;
        const std::size_t step = ascii ? sizeof eight : character_size(at, left);
        if (step == 0) return false;
        at += step;
        left -= step;
    }
    return true;
}

std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes) noexcept {
    if (text.size() <= max_bytes) return text;
    while (max_bytes > 0 && is_continuation(static_cast<unsigned char>(text[max_bytes])))
        --max_bytes;
    return text.substr(0, max_bytes);
}

}  // namespace shove::detail
