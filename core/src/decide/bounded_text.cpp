#include "bounded_text.hpp"

#include <algorithm>

namespace shove::decide {
namespace {

constexpr std::string_view cut_mark = "\xE2\x80\xA6";

bool continues(unsigned char c) noexcept {
    return (c & 0xC0) == 0x80;
}

/// The length of the UTF-8 character at the start of `text` (RFC 3629), or 0 where there is none.
std::size_t character_size(std::string_view text) noexcept {
    const auto at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const auto first = at(0);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return continues(static_cast<unsigned char>(at(1))) ? 2 : 0;
    const auto second = at(1);
    const bool tail = continues(static_cast<unsigned char>(second)) && continues(static_cast<unsigned char>(at(2)));
    if (first >= 0xE0 && first <= 0xEF) {
        const bool overlong = first == 0xE0 && second < 0xA0;
        const bool surrogate = first == 0xED && second > 0x9F;
        return tail && !overlong && !surrogate ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool overlong = first == 0xF0 && second < 0x90;
        const bool beyond = first == 0xF4 && second > 0x8F;
        return tail && continues(static_cast<unsigned char>(at(3))) && !overlong && !beyond ? 4 : 0;
    }
    return 0;
}

}  // namespace

std::string bounded_text(std::string_view text, std::size_t max_bytes) {
    const bool cut = text.size() > max_bytes;
    const std::size_t room = cut ? max_bytes - std::min(max_bytes, cut_mark.size()) : max_bytes;
    std::string out;
    out.reserve(std::min(text.size(), max_bytes));
    for (std::size_t i = 0; i < text.size();) {
        const auto size = character_size(text.substr(i));
        if (out.size() + std::max<std::size_t>(size, 1) > room) break;
        if (size == 0) {
            out += '?';
            ++i;
        } else {
            out.append(text, i, size);
            i += size;
        }
    }
    if (cut && max_bytes >= cut_mark.size()) out += cut_mark;
    return out;
}

}  // namespace shove::decide
