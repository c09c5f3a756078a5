#include "own_headers.hpp"

#include <algorithm>
#include <array>

#include "field.hpp"
#include "wire_names.hpp"

namespace shove::rabbitmq_backend {

namespace {

bool set(std::optional<std::string_view>& into, const amqp_field_value_t& field, std::size_t least, std::size_t most) {
    const auto bytes = bytes_in(field);
    if (!bytes || bytes->size() < least || bytes->size() > most) return false;
    into = *bytes;
    return true;
}

bool set(std::string& into, const amqp_field_value_t& field, std::size_t most) {
    const auto text = text_in(field, most);
    if (text) into = *text;
    return text.has_value();
}

bool set(std::uint32_t& into, const amqp_field_value_t& field) {
    const auto number = count_of(field);
    if (number) into = *number;
    return number.has_value();
}

template <class Time>
bool set(Time& into, const amqp_field_value_t& field) {
    if (field.kind == AMQP_FIELD_KIND_TIMESTAMP) return false;  // counts seconds
    const auto microseconds = integer_of(field);
    if (microseconds) into = wall_time(std::chrono::microseconds(*microseconds));
    return microseconds.has_value();
}

constexpr auto error_bytes = spi::history::max_error_bytes;

/// A header of ours, and how its value is entered; false if it makes no sense there.
struct own_header {
    std::string_view name;
    bool (*enter)(own_headers& into, const amqp_field_value_t& field);
};

using field = const amqp_field_value_t&;

constexpr std::array<own_header, own_headers::count> known{{
    {wire_names::message_id, [](own_headers& o, field f) { return set(o.id, f, 1, 255); }},
    {wire_names::key, [](own_headers& o, field f) { return set(o.key, f, 0, 65'535); }},
    {wire_names::published_at, [](own_headers& o, field f) { return set(o.published_at, f); }},
    {wire_names::expires_at, [](own_headers& o, field f) { return set(o.expires_at, f); }},
    {wire_names::retry_count, [](own_headers& o, field f) { return set(o.past.retries, f); }},
    {wire_names::crashes, [](own_headers& o, field f) { return set(o.past.crashes, f); }},
    {wire_names::first_error, [](own_headers& o, field f) { return set(o.past.first_error, f, error_bytes); }},
    {wire_names::last_error, [](own_headers& o, field f) { return set(o.past.last_error, f, error_bytes); }},
    {wire_names::first_failed_at, [](own_headers& o, field f) { return set(o.past.first_failed_at, f); }},
    {wire_names::last_failed_at, [](own_headers& o, field f) { return set(o.past.last_failed_at, f); }},
    {wire_names::death_reason, [](own_headers& o, field f) { return set(o.past.death_reason, f, error_bytes); }},
    {wire_names::original_queue, [](own_headers& o, field f) { return set(o.past.original_queue, f, error_bytes); }},
    {wire_names::death_count, [](own_headers& o, field f) { return set(o.past.death_count, f); }},
    {wire_names::dead_at, [](own_headers& o, field f) { return set(o.past.dead_at, f); }},
}};

}  // namespace

bool own_headers::take(std::string_view name, const amqp_field_value_t& value) {
    if (!name.starts_with("x-")) return false;
    const auto* found = std::ranges::find(known, name, &own_header::name);
    if (found == known.end()) return false;
    const auto which = static_cast<std::size_t>(found - known.begin());
    if (taken_.test(which)) return true;
    if (!found->enter(*this, value)) return false;
    taken_.set(which);
    return true;
}

}  // namespace shove::rabbitmq_backend
