#pragma once

#include <amqp.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "pool.hpp"

namespace shove::rabbitmq_backend {

/// How deep tables and arrays may lie in each other to be sent; the client library encodes them recursively.
inline constexpr int max_field_depth = 64;

/// Appends a value as it stands in a table: its type's letter, then its payload. Takes any depth.
void encode_field(const amqp_field_value_t& value, std::string& to);

/// Reads what `encode_field` wrote. Texts point into `encoded`, lists into `memory`.
/// @return  False for anything but one well-formed value, at most `max_field_depth` deep.
bool decode_field(std::string_view encoded, pool& memory, amqp_field_value_t& into);

/// Bytes of a payload of fixed size; nothing where a size stands in front, or the type is none.
std::optional<std::size_t> fixed_size(std::uint8_t kind) noexcept;

/// Bytes that a table takes, with its own size in front; it is at most `max_field_depth` deep.
std::size_t encoded_size(const amqp_table_t& table) noexcept;

}  // namespace shove::rabbitmq_backend
