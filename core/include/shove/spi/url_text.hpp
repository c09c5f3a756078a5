#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// Reading the parts of a URL: for the backends' `parse`.
namespace shove::spi {

/// Undoes `%41`; nothing if that is malformed or stands for a NUL.
std::optional<std::string> percent_decoded(std::string_view text);

/// A decimal number without sign or space; nothing if it is none.
std::optional<std::uint64_t> whole_number(std::string_view text);

/// `500ms`, `30s`, `5m`, or a bare number of `bare` each; at most ten years. Nothing if it is none of these.
std::optional<std::chrono::milliseconds> duration(std::string_view text, std::chrono::milliseconds bare);

/// `true` or `false`, also `1` or `0`.
std::optional<bool> truth(std::string_view text);

}  // namespace shove::spi
