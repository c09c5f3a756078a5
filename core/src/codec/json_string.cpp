#include <shove/detail/json_writer.hpp>

#include <simdjson.h>

#include <cstring>

// Writing strings: almost all are printable ASCII without quotes and backslashes, which a loop
// over 16 bytes at a time finds out; only the others are validated and escaped.
namespace shove::detail {
namespace {

using block = std::uint8_t __attribute__((vector_size(16)));
using halves = std::uint64_t __attribute__((vector_size(16)));

bool any(block lanes) {
    halves both;
    std::memcpy(&both, &lanes, sizeof both);
    return (both[0] | both[1]) != 0;
}

/// True if one of 16 bytes is a control character, a quote, a backslash or not ASCII.
bool has_special(const char* at) {
    block bytes;
    std::memcpy(&bytes, at, sizeof bytes);
    // Adding 0x60 moves 0x20..0x7F to 0x80..0xDF, hence "plain" means: that sum is 0x80 or more, and
    // the byte itself is less than 0x80.
    const block high = ((bytes + std::uint8_t{0x60}) & ~bytes & std::uint8_t{0x80}) ^ std::uint8_t{0x80};
    return any(high | block(bytes == '"') | block(bytes == '\\'));
}

bool needs_escape(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

bool is_plain(std::string_view text) {
    const char* at = text.data();
    const char* const end = at + text.size();
    for (; end - at >= 16; at += 16) {
        if (has_special(at)) return false;
    }
    for (; at != end; ++at) {
        if (needs_escape(*at) || static_cast<unsigned char>(*at) >= 0x80) return false;
    }
    return true;
}

/// Bytes of the valid UTF-8 character at the front; 0 if it is invalid.
std::size_t valid_character(std::string_view text) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    return size <= text.size() && simdjson::validate_utf8(text.data(), size) ? size : 0;
}

}  // namespace

bool json_writer::string(std::string_view text) {
    if (!fits(text.size())) return false;
    const bool plain = is_plain(text);
    if (!plain && !simdjson::validate_utf8(text.data(), text.size())) return fail("invalid UTF-8 in a string");
    separate();
    put('"');
    if (plain) {
        put(text.data(), text.size());
    } else {
        put_escaped(text);
    }
    put('"');
    return true;
}

bool json_writer::lossy_string(std::string_view text) {
    if (simdjson::validate_utf8(text.data(), text.size())) return string(text);
    std::string valid;
    while (!text.empty()) {
        const auto size = valid_character(text);
        valid += size == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, size);
        text.remove_prefix(size == 0 ? 1 : size);
    }
    return string(valid);
}

void json_writer::put_escaped(std::string_view text) {
    while (!text.empty()) {
        std::size_t plain = 0;
        while (plain < text.size() && !needs_escape(text[plain]))
            ++plain;
        put(text.data(), plain);
        if (plain == text.size()) return;
        put_escape(text[plain]);
        text.remove_prefix(plain + 1);
    }
}

void json_writer::put_escape(char c) {
    constexpr std::string_view controls = "\b\t\n\f\r\"\\";
    constexpr std::string_view letters = "btnfr\"\\";
    const auto which = controls.find(c);
    if (which != std::string_view::npos) {
        const char escape[2] = {'\\', letters[which]};
        return put(escape, 2);
    }
    constexpr std::string_view digits = "0123456789abcdef";
    const auto value = static_cast<unsigned char>(c);
    const char escape[6] = {'\\', 'u', '0', '0', digits[value >> 4], digits[value & 15]};
    put(escape, 6);
}

}  // namespace shove::detail
