#include "json_scalar.hpp"

#include <cstring>

namespace shove::detail {
namespace {

/// Reads `\u`'s four digits; negative if they are not.
std::int32_t hex4(std::string_view text) {
    if (text.size() < 4) return -1;
    std::int32_t value = 0;
    for (const char c : text.substr(0, 4)) {
        const std::int32_t digit = c >= '0' && c <= '9'   ? c - '0'
                                   : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                   : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                          : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

bool is_high_surrogate(std::int32_t unit) {
    return unit >= 0xD800 && unit < 0xDC00;
}
bool is_low_surrogate(std::int32_t unit) {
    return unit >= 0xDC00 && unit < 0xE000;
}

void append_utf8(std::int32_t point, std::string& into) {
    const auto tail = [&](int shift) { into += static_cast<char>(0x80 | ((point >> shift) & 0x3F)); };
    if (point < 0x80) {
        into += static_cast<char>(point);
    } else if (point < 0x800) {
        into += static_cast<char>(0xC0 | (point >> 6));
        tail(0);
    } else if (point < 0x10000) {
        into += static_cast<char>(0xE0 | (point >> 12));
        tail(6), tail(0);
    } else {
        into += static_cast<char>(0xF0 | (point >> 18));
        tail(12), tail(6), tail(0);
    }
}

/// Takes the digits after `\u`, and the second half of a pair.
bool take_unicode(std::string_view& rest, std::string& into) {
    auto point = hex4(rest);
    if (point < 0 || is_low_surrogate(point)) return false;
    rest.remove_prefix(4);
    if (is_high_surrogate(point)) {
        if (!rest.starts_with("\\u")) return false;
        const auto low = hex4(rest.substr(2));
        if (!is_low_surrogate(low)) return false;
        point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
        rest.remove_prefix(6);
    }
    append_utf8(point, into);
    return true;
}

/// Takes one escape, whose backslash is gone already.
bool take_escape(std::string_view& rest, std::string& into) {
    constexpr std::string_view letters = "\"\\/bfnrt";
    constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
    if (rest.empty()) return false;
    const char letter = rest.front();
    rest.remove_prefix(1);
    if (letter == 'u') return take_unicode(rest, into);
    const auto which = letters.find(letter);
    if (which == std::string_view::npos) return false;
    into += meanings[which];
    return true;
}

}  // namespace

bool unescape(std::string_view raw, std::string& into) {
    into.clear();
    while (true) {
        const auto plain = std::min(raw.find('\\'), raw.size());
        into.append(raw.substr(0, plain));
        if (plain == raw.size()) return true;
        raw.remove_prefix(plain + 1);
        if (!take_escape(raw, into)) return false;
    }
}

}  // namespace shove::detail
