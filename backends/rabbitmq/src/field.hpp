#pragma once

#include <amqp.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace shove::rabbitmq_backend {

/// A view as the client library takes it; it only reads what it is given to send.
amqp_bytes_t bytes_of(std::string_view text) noexcept;

/// What the client library gives, as a view.
std::string_view view_of(const amqp_bytes_t& bytes) noexcept;

/// A field of type `S`.
amqp_field_value_t text_field(std::string_view text) noexcept;

/// A field of type `S` where the bytes are UTF-8, else of type `x`.
amqp_field_value_t text_or_binary_field(std::string_view bytes) noexcept;

/// A field of type `l`.
amqp_field_value_t integer_field(std::int64_t value) noexcept;

/// A field of type `i`.
amqp_field_value_t count_field(std::uint32_t value) noexcept;

/// An integer of any kind, timestamps too; nothing for other types and for what is above the range.
std::optional<std::int64_t> integer_of(const amqp_field_value_t& field) noexcept;

/// As `integer_of`, but only of the integer kinds, and squeezed into the range.
std::optional<std::uint32_t> count_of(const amqp_field_value_t& field) noexcept;

/// The bytes of an `S` or `x`; nothing for other types.
std::optional<std::string_view> bytes_in(const amqp_field_value_t& field) noexcept;

/// The characters of an `S` or `x` that is UTF-8, at most `max_bytes` of them; nothing for all else.
std::optional<std::string_view> text_in(const amqp_field_value_t& field, std::size_t max_bytes) noexcept;

/// The first field of that name; null: there is none.
const amqp_field_value_t* find_field(const amqp_table_t& table, std::string_view name) noexcept;

}  // namespace shove::rabbitmq_backend
