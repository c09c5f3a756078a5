#include "base64.hpp"

#include <array>
#include <cstdint>

namespace shove::detail {
namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t invalid = 0xFF;

constexpr auto values = [] {
    std::array<std::uint8_t, 256> table{};
    table.fill(invalid);
    for (std::size_t i = 0; i < alphabet.size(); ++i) {
        table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
    }
    return table;
}();

void encode_group(std::uint32_t bits, std::size_t bytes, char* out) {
    for (std::size_t i = 0; i < 4; ++i) {
        out[i] = i <= bytes ? alphabet[(bits >> (18 - 6 * i)) & 0x3F] : '=';
    }
}

std::uint32_t byte_at(std::span<const std::byte> bytes, std::size_t i) {
    return i < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i]) : 0;
}

/// Decodes four characters, of which `bytes` + 1 count; false if one is invalid or holds bits
/// that no encoder sets.
bool decode_group(const char* text, std::size_t bytes, std::byte* out) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        const std::uint8_t value = i <= bytes ? values[static_cast<unsigned char>(text[i])] : std::uint8_t{0};
        if (value == invalid) return false;
        bits = bits << 6 | value;
    }
    for (std::size_t i = 0; i < bytes; ++i)
        out[i] = static_cast<std::byte>(bits >> (16 - 8 * i) & 0xFF);
    return bytes == 3 || (bits & ((std::uint32_t{1} << (24 - 8 * bytes)) - 1)) == 0;
}

}  // namespace

void base64_encode(std::span<const std::byte> bytes, char* out) {
    for (std::size_t i = 0; i < bytes.size(); i += 3, out += 4) {
        const auto left = bytes.size() - i;
        const auto bits = byte_at(bytes, i) << 16 | byte_at(bytes, i + 1) << 8 | byte_at(bytes, i + 2);
        encode_group(bits, left < 3 ? left : 3, out);
    }
}

std::size_t base64_decoded_size(std::string_view text) {
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    return text.size() / 4 * 3 - (text.size() < 4 ? 0 : padding);
}

bool base64_decode(std::string_view text, std::byte* out) {
    if (text.size() % 4 != 0) return false;
    auto left = base64_decoded_size(text);
    for (std::size_t i = 0; i < text.size(); i += 4) {
        const std::size_t bytes = left < 3 ? left : 3;
        if (!decode_group(text.data() + i, bytes, out)) return false;
        out += bytes;
        left -= bytes;
    }
    return true;
}

}  // namespace shove::detail
