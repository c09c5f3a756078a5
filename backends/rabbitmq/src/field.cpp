#include "field.hpp"

#include <shove/detail/utf8.hpp>

#include <algorithm>
#include <limits>
#include <span>

namespace shove::rabbitmq_backend {

amqp_bytes_t bytes_of(std::string_view text) noexcept {
    return {text.size(), const_cast<char*>(text.data())};
}

std::string_view view_of(const amqp_bytes_t& bytes) noexcept {
    return bytes.len == 0 ? std::string_view() : std::string_view(static_cast<const char*>(bytes.bytes), bytes.len);
}

amqp_field_value_t text_field(std::string_view text) noexcept {
    amqp_field_value_t field{};
    field.kind = AMQP_FIELD_KIND_UTF8;
    field.value.bytes = bytes_of(text);
    return field;
}

amqp_field_value_t text_or_binary_field(std::string_view bytes) noexcept {
    auto field = text_field(bytes);
    if (!detail::is_utf8(bytes)) field.kind = AMQP_FIELD_KIND_BYTES;
    return field;
}

amqp_field_value_t integer_field(std::int64_t value) noexcept {
    amqp_field_value_t field{};
    field.kind = AMQP_FIELD_KIND_I64;
    field.value.i64 = value;
    return field;
}

amqp_field_value_t count_field(std::uint32_t value) noexcept {
    amqp_field_value_t field{};
    field.kind = AMQP_FIELD_KIND_U32;
    field.value.u32 = value;
    return field;
}

std::optional<std::int64_t> integer_of(const amqp_field_value_t& field) noexcept {
    switch (field.kind) {
        case AMQP_FIELD_KIND_I8:
            return field.value.i8;
        case AMQP_FIELD_KIND_U8:
            return field.value.u8;
        case AMQP_FIELD_KIND_I16:
            return field.value.i16;
        case AMQP_FIELD_KIND_U16:
            return field.value.u16;
        case AMQP_FIELD_KIND_I32:
            return field.value.i32;
        case AMQP_FIELD_KIND_U32:
            return field.value.u32;
        case AMQP_FIELD_KIND_I64:
            return field.value.i64;
        case AMQP_FIELD_KIND_U64:
        case AMQP_FIELD_KIND_TIMESTAMP:
            if (field.value.u64 > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
                return std::nullopt;
            return static_cast<std::int64_t>(field.value.u64);
        default:
            return std::nullopt;
    }
}

std::optional<std::uint32_t> count_of(const amqp_field_value_t& field) noexcept {
    constexpr auto most = std::numeric_limits<std::uint32_t>::max();
    if (field.kind == AMQP_FIELD_KIND_TIMESTAMP) return std::nullopt;
    if (const auto value = integer_of(field))
        return static_cast<std::uint32_t>(std::clamp<std::int64_t>(*value, 0, most));
    if (field.kind == AMQP_FIELD_KIND_U64) return most;
    return std::nullopt;
}

std::optional<std::string_view> bytes_in(const amqp_field_value_t& field) noexcept {
    if (field.kind != AMQP_FIELD_KIND_UTF8 && field.kind != AMQP_FIELD_KIND_BYTES) return std::nullopt;
    return view_of(field.value.bytes);
}

std::optional<std::string_view> text_in(const amqp_field_value_t& field, std::size_t max_bytes) noexcept {
    const auto bytes = bytes_in(field);
    if (!bytes || !detail::is_utf8(*bytes)) return std::nullopt;
    return detail::utf8_prefix(*bytes, max_bytes);
}

const amqp_field_value_t* find_field(const amqp_table_t& table, std::string_view name) noexcept {
    for (const auto& entry : std::span(table.entries, static_cast<std::size_t>(table.num_entries))) {
        if (view_of(entry.key) == name) return &entry.value;
    }
    return nullptr;
}

}  // namespace shove::rabbitmq_backend
