#pragma once

#include <shove/codec.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace shove::detail {

/// True if the bytes are one valid JSON document (RFC 8259) in UTF-8, at most 1,024 levels deep
/// and smaller than 4 GiB. Nothing but white space may stand around it.
bool is_valid_json(std::span<const std::byte> bytes);
/// The same with memory that is used again; for many documents.
bool is_valid_json(std::span<const std::byte> bytes, decode_scratch& scratch);

/// Appends a JSON document without its white space, hence on one line; numbers and strings keep
/// their text.
/// @return False, and `out` is as it was, if `is_valid_json` is false.
bool compact_json(std::span<const std::byte> bytes, std::string& out);
bool compact_json(std::span<const std::byte> bytes, std::string& out, decode_scratch& scratch);

}  // namespace shove::detail
