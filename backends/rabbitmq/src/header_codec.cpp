#include "header_codec.hpp"

#include <shove/detail/utf8.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "field.hpp"
#include "field_codec.hpp"

namespace shove::rabbitmq_backend {

namespace {

header_value as_binary(std::string_view bytes) {
    return std::as_bytes(std::span(bytes));
}

shown_value foreign(const amqp_field_value_t& field, std::string& scratch) {
    scratch.clear();
    encode_field(field, scratch);
    return {header_value::foreign(scratch)};
}

/// A number of 32 bits shown as one of 64; not a signalling NaN, which a conversion makes quiet.
std::optional<double> widened(const amqp_field_value_t& field) noexcept {
    const auto bits = field.value.u32;
    const bool is_nan = (bits & 0x7F800000u) == 0x7F800000u && (bits & 0x007FFFFFu) != 0;
    if (is_nan && (bits & 0x00400000u) == 0) return std::nullopt;
    return static_cast<double>(field.value.f32);
}

std::optional<float> narrowed(double value) noexcept {
    if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max()) return std::nullopt;
    const auto narrow = static_cast<float>(value);
    if (std::bit_cast<std::uint64_t>(static_cast<double>(narrow)) != std::bit_cast<std::uint64_t>(value))
        return std::nullopt;
    return narrow;
}

template <class T>
bool fits(std::int64_t value) noexcept {
    if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) return value >= 0;
    if constexpr (sizeof(T) < 8)
        return value >= std::int64_t{std::numeric_limits<T>::min()} &&
               value <= std::int64_t{std::numeric_limits<T>::max()};
    return true;
}

/// Enters an integer as another kind than `l`; false if it has no room there.
template <class T>
bool enter(amqp_field_value_t& field, char letter, T& place, std::int64_t value) noexcept {
    if (!fits<T>(value)) return false;
    field.value = {};
    place = static_cast<T>(value);
    field.kind = static_cast<std::uint8_t>(letter);
    return true;
}

amqp_field_value_t number_field(std::int64_t value, char letter) noexcept {
    auto field = integer_field(value);
    switch (letter) {
        case AMQP_FIELD_KIND_I8:
            enter(field, letter, field.value.i8, value);
            break;
        case AMQP_FIELD_KIND_U8:
            enter(field, letter, field.value.u8, value);
            break;
        case AMQP_FIELD_KIND_I16:
            enter(field, letter, field.value.i16, value);
            break;
        case AMQP_FIELD_KIND_U16:
            enter(field, letter, field.value.u16, value);
            break;
        case AMQP_FIELD_KIND_I32:
            enter(field, letter, field.value.i32, value);
            break;
        case AMQP_FIELD_KIND_U32:
            enter(field, letter, field.value.u32, value);
            break;
        case AMQP_FIELD_KIND_U64:
        case AMQP_FIELD_KIND_TIMESTAMP:
            enter(field, letter, field.value.u64, value);
            break;
        default:
            break;
    }
    return field;
}

amqp_field_value_t floating_field(double value, char letter) noexcept {
    amqp_field_value_t field{};
    const auto narrow = letter == AMQP_FIELD_KIND_F32 ? narrowed(value) : std::nullopt;
    field.kind = narrow ? AMQP_FIELD_KIND_F32 : AMQP_FIELD_KIND_F64;
    if (narrow) {
        field.value.f32 = *narrow;
    } else {
        field.value.f64 = value;
    }
    return field;
}

amqp_field_value_t bytes_field(std::string_view bytes, std::uint8_t kind) noexcept {
    auto field = text_field(bytes);
    field.kind = kind;
    return field;
}

}  // namespace

shown_value show_field(const amqp_field_value_t& field, std::string& scratch) {
    const auto letter = static_cast<char>(field.kind);
    switch (field.kind) {
        case AMQP_FIELD_KIND_VOID:
            return {};
        case AMQP_FIELD_KIND_BOOLEAN:
            return {field.value.boolean != 0};
        case AMQP_FIELD_KIND_I64:
            return {field.value.i64};
        case AMQP_FIELD_KIND_F64:
            return {field.value.f64};
        case AMQP_FIELD_KIND_BYTES:
            return {as_binary(view_of(field.value.bytes))};
        case AMQP_FIELD_KIND_UTF8: {
            const auto text = view_of(field.value.bytes);
            return detail::is_utf8(text) ? shown_value{text} : shown_value{as_binary(text), letter};
        }
        case AMQP_FIELD_KIND_F32: {
            const auto wide = widened(field);
            return wide ? shown_value{*wide, letter} : foreign(field, scratch);
        }
        default: {
            const auto number = integer_of(field);
            return number ? shown_value{*number, letter} : foreign(field, scratch);
        }
    }
}

amqp_field_value_t to_field(const header_value& value, char letter, pool& memory) {
    amqp_field_value_t field{};
    switch (value.type()) {
        case header_type::none:
            field.kind = AMQP_FIELD_KIND_VOID;
            return field;
        case header_type::boolean:
            field.kind = AMQP_FIELD_KIND_BOOLEAN;
            field.value.boolean = *value.as_boolean() ? 1 : 0;
            return field;
        case header_type::integer:
            return number_field(*value.as_integer(), letter);
        case header_type::floating:
            return floating_field(*value.as_floating(), letter);
        case header_type::text:
            return text_field(value.bytes());
        case header_type::binary:
            return bytes_field(value.bytes(),
                               letter == AMQP_FIELD_KIND_UTF8 ? AMQP_FIELD_KIND_UTF8 : AMQP_FIELD_KIND_BYTES);
        case header_type::foreign:
            if (decode_field(value.bytes(), memory, field)) return field;
            return bytes_field(value.bytes(), AMQP_FIELD_KIND_BYTES);
    }
    return field;
}

}  // namespace shove::rabbitmq_backend
