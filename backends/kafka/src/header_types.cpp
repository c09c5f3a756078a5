#include "header_types.hpp"

#include <shove/detail/utf8.hpp>

#include <array>
#include <charconv>
#include <optional>
#include <span>

namespace shove::kafka_backend {

namespace {

constexpr char boolean = 't';
constexpr char integer = 'i';
constexpr char floating = 'd';
constexpr char bytes_of_text = 's';
constexpr char binary = 'b';

template <class Number>
std::string_view written(Number number, std::string& scratch) {
    std::array<char, 40> room{};
    const auto end = std::to_chars(room.data(), room.data() + room.size(), number).ptr;
    scratch.assign(room.data(), end);
    return scratch;
}

template <class Number>
std::optional<Number> parsed(std::string_view bytes) {
    Number number{};
    const auto* end = bytes.data() + bytes.size();
    const auto [at, bad] = std::from_chars(bytes.data(), end, number);
    if (bad != std::errc() || at != end) return std::nullopt;
    return number;
}

header_value as_binary(std::string_view bytes) {
    return std::as_bytes(std::span(bytes));
}

/// Without a note.
header_value by_its_bytes(std::string_view bytes) {
    return detail::is_utf8(bytes) ? header_value(bytes) : as_binary(bytes);
}

}  // namespace

void header_types::note(std::size_t place, char letter) {
    if (!text_.empty()) text_ += ',';
    text_ += std::to_string(place);
    text_ += letter;
}

std::string_view header_types::write(const header_value& value, std::size_t place, std::string& scratch) {
    switch (value.type()) {
        case header_type::boolean:
            note(place, boolean);
            return value.as_boolean().value_or(false) ? "true" : "false";
        case header_type::integer:
            note(place, integer);
            return written(value.as_integer().value_or(0), scratch);
        case header_type::floating:
            note(place, floating);
            return written(value.as_floating().value_or(0), scratch);
        case header_type::text:
            if (!detail::is_utf8(value.bytes())) note(place, bytes_of_text);
            return value.bytes();
        case header_type::binary:
            if (detail::is_utf8(value.bytes())) note(place, binary);
            return value.bytes();
        default:
            return value.bytes();
    }
}

void header_types::read(std::string_view list) {
    while (!list.empty()) {
        const auto comma = list.find(',');
        const auto one = list.substr(0, comma);
        list = comma == list.npos ? std::string_view() : list.substr(comma + 1);
        if (one.size() < 2) continue;
        if (const auto place = parsed<std::size_t>(one.substr(0, one.size() - 1)))
            entries_.push_back({*place, one.back()});
    }
}

header_value header_types::value(std::string_view bytes, std::size_t place) const {
    char letter = 0;
    for (const auto& each : entries_) {
        if (each.place == place) letter = each.letter;
    }
    if (letter == boolean && (bytes == "true" || bytes == "false")) return bytes == "true";
    if (letter == bytes_of_text) return bytes;
    if (letter == binary) return as_binary(bytes);
    if (letter == integer) {
        if (const auto number = parsed<std::int64_t>(bytes)) return *number;
    }
    if (letter == floating) {
        if (const auto number = parsed<double>(bytes)) return *number;
    }
    return by_its_bytes(bytes);
}

}  // namespace shove::kafka_backend
