#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace shove::detail {

/// Characters of the base64 text (RFC 4648, with padding) of so many bytes.
constexpr std::size_t base64_size(std::size_t bytes) {
    return (bytes + 2) / 3 * 4;
}

/// Writes `base64_size(bytes.size())` characters.
void base64_encode(std::span<const std::byte> bytes, char* out);

/// Bytes that a text stands for, if it is valid; its length must be a multiple of four.
std::size_t base64_decoded_size(std::string_view text);

/// Writes `base64_decoded_size(text)` bytes.
/// @return False unless the text is exactly what `base64_encode` gives.
bool base64_decode(std::string_view text, std::byte* out);

}  // namespace shove::detail
