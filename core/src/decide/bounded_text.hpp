#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shove::decide {

/// At most `max_bytes` of a text, cut between characters; bytes that are not UTF-8 become '?'. What is cut is
/// marked by a final "…".
std::string bounded_text(std::string_view text, std::size_t max_bytes);

}  // namespace shove::decide
