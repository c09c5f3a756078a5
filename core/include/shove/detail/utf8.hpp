#pragma once

#include <cstddef>
#include <string_view>

namespace shove::detail {

/// True if the bytes are UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) noexcept;

/// The longest beginning of a UTF-8 text that has at most `max_bytes` and ends between two characters.
std::string_view utf8_prefix(std::string_view text, std::size_t max_bytes) noexcept;

}  // namespace shove::detail
