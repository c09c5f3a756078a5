#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace shove {

enum class log_level : std::uint8_t { debug, info, warning, error };

/// One kind of event: its name and fields are stable, see docs/guide/events.md.
struct event_info {
    std::string_view name;  ///< `leases_lost`, …
    log_level level = log_level::info;
    std::span<const std::string_view> fields;  ///< The names of its fields, in order.
    std::string_view meaning;                  ///< For people, one line.
};

/// A field of an event: a text or a number.
struct event_field {
    std::string_view name;
    std::string_view text{};
    std::int64_t number = 0;
    bool is_number = false;

    event_field(std::string_view field, std::string_view value) noexcept : name(field), text(value) {}
    event_field(std::string_view field, const std::string& value) noexcept : name(field), text(value) {}
    event_field(std::string_view field, const char* value) noexcept : name(field), text(value) {}
    event_field(std::string_view field, std::int64_t value) noexcept : name(field), number(value), is_number(true) {}
};

/// Something that happened, as a program reads it. Never holds a payload, a header's value or a secret.
/// @par Lifetime  All views end with the call that is given the event.
struct event {
    const event_info& info;
    std::string_view text;  ///< The same for people, one line.
    std::span<const event_field> fields;
};

/// Every event that the engine tells, by name.
std::span<const event_info> event_catalog() noexcept;

/// `debug`, `info`, `warning` or `error`.
std::string_view to_string(log_level level) noexcept;

}  // namespace shove
