#include <shove/detail/json_writer.hpp>

#include "small_text.hpp"

#include <simdjson.h>

#include <cstring>

// Writing strings: almost all are short printable ASCII without quotes and backslashes, which a loop
// over 16 bytes at a time copies and checks at once; only the others are validated and escaped.
namespace shove::detail {
namespace {

using block = std::uint8_t __attribute__((vector_size(16)));
using signed_block = std::int8_t __attribute__((vector_size(16)));
using halves = std::uint64_t __attribute__((vector_size(16)));

bool any(block lanes) {
    halves both;
    std::memcpy(&both, &lanes, sizeof both);
    return (both[0] | both[1]) != 0;
}

/// Not zero where one of 16 bytes is a control character, a quote, a backslash or not ASCII. The
/// first and the last are those that are less than a space as signed numbers.
block specials(block bytes) {
    return block(signed_block(bytes) < std::int8_t{' '}) | block(bytes == '"') | block(bytes == '\\');
}

/// Copies 16 bytes; the specials among them.
block copy_block(char* to, const char* from) {
    block bytes;
    std::memcpy(&bytes, from, sizeof bytes);
    std::memcpy(to, &bytes, sizeof bytes);
    return specials(bytes);
}

/// Copies fewer than 16 bytes; the specials among them.
block copy_part(char* to, const char* from, std::size_t size) {
    block bytes = block{} + std::uint8_t{' '};
    copy_text(reinterpret_cast<char*>(&bytes), from, size);
    copy_text(to, from, size);
    return specials(bytes);
}

/// Copies a text of any size; false if something in it needs more than that.
bool copy_plain(char* to, std::string_view text) {
    const char* from = text.data();
    if (text.size() < 16) return !any(copy_part(to, from, text.size()));
    const char* const last = from + text.size() - 16;
    block found = copy_block(to + (last - from), last);
    for (; from < last; from += 16, to += 16)
        found |= copy_block(to, from);
    return !any(found);
}

bool needs_escape(char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

/// Bytes before the first that needs an escape; the text is valid UTF-8.
std::size_t plain_size(std::string_view text) {
    std::size_t size = 0;
    for (; text.size() - size >= 16; size += 16) {
        block bytes;
        std::memcpy(&bytes, text.data() + size, sizeof bytes);
        if (any(block(bytes < std::uint8_t{' '}) | block(bytes == '"') | block(bytes == '\\'))) break;
    }
    while (size < text.size() && !needs_escape(text[size]))
        ++size;
    return size;
}

/// Bytes of the valid UTF-8 character at the front; 0 if it is invalid.
std::size_t valid_character(std::string_view text) {
    const auto first = static_cast<unsigned char>(text.front());
    const std::size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    return size <= text.size() && simdjson::validate_utf8(text.data(), size) ? size : 0;
}

}  // namespace

bool json_writer::string(std::string_view text) {
    if (put_plain(text)) return true;
    if (!fits(text.size())) return false;
    if (!simdjson::validate_utf8(text.data(), text.size())) return fail("invalid UTF-8 in a string");
    separate();
    put('"');
    put_escaped(text);
    put('"');
    return true;
}

/// Writes a text that is not long and needs no escape; false, and nothing is written, for others.
bool json_writer::put_plain(std::string_view text) {
    if (text.size() > buffer_.size() - 3 || text.size() > limits_.max_string_bytes) return false;
    char* at = room(text.size() + 3);
    *at = ',';
    at += comma_ ? 1 : 0;
    *at = '"';
    if (!copy_plain(at + 1, text)) return false;
    at[text.size() + 1] = '"';
    used_ += text.size() + 2 + (comma_ ? 1 : 0);
    comma_ = true;
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
        const auto plain = plain_size(text);
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
