#include "foreign_properties.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>

#include "field.hpp"
#include "field_codec.hpp"
#include "header_codec.hpp"
#include "wire_names.hpp"

namespace shove::rabbitmq_backend {

namespace {

/// A property that is a short text.
struct text_property {
    std::string_view name;
    amqp_flags_t flag;
    amqp_bytes_t amqp_basic_properties_t::*member;
};

constexpr std::array<text_property, 10> texts{{
    {"content-type", AMQP_BASIC_CONTENT_TYPE_FLAG, &amqp_basic_properties_t::content_type},
    {"content-encoding", AMQP_BASIC_CONTENT_ENCODING_FLAG, &amqp_basic_properties_t::content_encoding},
    {"correlation-id", AMQP_BASIC_CORRELATION_ID_FLAG, &amqp_basic_properties_t::correlation_id},
    {"reply-to", AMQP_BASIC_REPLY_TO_FLAG, &amqp_basic_properties_t::reply_to},
    {"expiration", AMQP_BASIC_EXPIRATION_FLAG, &amqp_basic_properties_t::expiration},
    {"message-id", AMQP_BASIC_MESSAGE_ID_FLAG, &amqp_basic_properties_t::message_id},
    {"type", AMQP_BASIC_TYPE_FLAG, &amqp_basic_properties_t::type},
    {"user-id", AMQP_BASIC_USER_ID_FLAG, &amqp_basic_properties_t::user_id},
    {"app-id", AMQP_BASIC_APP_ID_FLAG, &amqp_basic_properties_t::app_id},
    {"cluster-id", AMQP_BASIC_CLUSTER_ID_FLAG, &amqp_basic_properties_t::cluster_id},
}};

constexpr std::string_view priority_name = "priority";
constexpr std::string_view timestamp_name = "timestamp";

void add(headers& into, std::string_view name, const amqp_field_value_t& field) {
    std::string scratch;
    const auto shown = show_field(field, scratch);
    into.add(std::string(wire_names::property_prefix).append(name), shown.value);
}

bool is_taken(amqp_flags_t flag, const taken_properties& taken) noexcept {
    return (flag == AMQP_BASIC_MESSAGE_ID_FLAG && taken.message_id) ||
           (flag == AMQP_BASIC_CONTENT_TYPE_FLAG && taken.content_type) || (flag == AMQP_BASIC_TYPE_FLAG && taken.type);
}

/// False if the property would mean something else to a reader than the header does.
bool may_be_text(amqp_flags_t flag, std::string_view value, const restore_rules& rules) noexcept {
    switch (flag) {
        case AMQP_BASIC_EXPIRATION_FLAG:
            return false;
        case AMQP_BASIC_USER_ID_FLAG:
            return value == rules.user;
        case AMQP_BASIC_CONTENT_TYPE_FLAG:
        case AMQP_BASIC_TYPE_FLAG:
            return value.empty();
        case AMQP_BASIC_MESSAGE_ID_FLAG:
            return value.empty() || rules.has_id;
        default:
            return true;
    }
}

bool restore_text(std::string_view name, const header_value& value, const restore_rules& rules,
                  amqp_basic_properties_t& into) noexcept {
    const auto* property = std::ranges::find(texts, name, &text_property::name);
    const bool is_bytes = value.type() == header_type::text || value.type() == header_type::binary;
    if (property == texts.end() || !is_bytes || value.bytes().size() > 255) return false;
    if ((into._flags & property->flag) != 0 || !may_be_text(property->flag, value.bytes(), rules)) return false;
    into.*(property->member) = bytes_of(value.bytes());
    into._flags |= property->flag;
    return true;
}

bool restore_priority(const header_value& value, amqp_basic_properties_t& into) noexcept {
    const bool set = (into._flags & AMQP_BASIC_PRIORITY_FLAG) != 0;
    if (set || value.type() != header_type::integer) return false;
    const auto number = *value.as_integer();
    if (number < 0 || number > 255) return false;
    into.priority = static_cast<std::uint8_t>(number);
    into._flags |= AMQP_BASIC_PRIORITY_FLAG;
    return true;
}

std::optional<std::uint64_t> timestamp_in(const header_value& value) {
    if (value.type() == header_type::integer && *value.as_integer() >= 0)
        return static_cast<std::uint64_t>(*value.as_integer());
    pool memory;
    amqp_field_value_t field{};
    if (value.type() != header_type::foreign || !decode_field(value.bytes(), memory, field)) return std::nullopt;
    return field.kind == AMQP_FIELD_KIND_TIMESTAMP ? std::optional(field.value.u64) : std::nullopt;
}

bool restore_timestamp(const header_value& value, const restore_rules& rules, amqp_basic_properties_t& into) {
    const auto seconds = timestamp_in(value);
    if (!seconds || (into._flags & AMQP_BASIC_TIMESTAMP_FLAG) != 0) return false;
    if (!rules.has_time && is_time_of_publishing(*seconds)) return false;
    into.timestamp = *seconds;
    into._flags |= AMQP_BASIC_TIMESTAMP_FLAG;
    return true;
}

}  // namespace

void show_properties(const amqp_basic_properties_t& from, const taken_properties& taken, headers& into) {
    for (const auto& property : texts) {
        if ((from._flags & property.flag) == 0 || is_taken(property.flag, taken)) continue;
        add(into, property.name, text_or_binary_field(view_of(from.*(property.member))));
    }
    if ((from._flags & AMQP_BASIC_PRIORITY_FLAG) != 0) add(into, priority_name, integer_field(from.priority));
    if ((from._flags & AMQP_BASIC_TIMESTAMP_FLAG) != 0 && !taken.timestamp) {
        amqp_field_value_t field{};
        field.kind = AMQP_FIELD_KIND_TIMESTAMP;
        field.value.u64 = from.timestamp;
        add(into, timestamp_name, field);
    }
}

bool restore_property(const header& from, const restore_rules& rules, amqp_basic_properties_t& into) {
    if (!from.name.starts_with(wire_names::property_prefix)) return false;
    const auto name = from.name.substr(wire_names::property_prefix.size());
    if (name == priority_name) return restore_priority(from.value, into);
    if (name == timestamp_name) return restore_timestamp(from.value, rules, into);
    return restore_text(name, from.value, rules, into);
}

bool is_time_of_publishing(std::uint64_t timestamp) noexcept {
    constexpr auto last = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 1'000'000;
    return timestamp > 0 && timestamp <= last;
}

}  // namespace shove::rabbitmq_backend
