#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shove::detail {

/// Standard base64 with padding (RFC 4648 §4).
std::string to_base64(std::string_view bytes);
/// Reads standard base64 with padding; nothing where a character or the length is wrong.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace shove::detail
