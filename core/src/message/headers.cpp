#include <shove/error.hpp>
#include <shove/headers.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>

#include "../codec/base64.hpp"

// Encoded form of one header: u16 name size, u8 type, u32 value size, name, value; host byte order,
// since it never leaves the machine. Numbers take 8 bytes, a boolean 1.

namespace shove {
namespace {

constexpr std::size_t fixed_size = 7;

std::string base64_of(std::string_view bytes) {
    std::string text(detail::base64_size(bytes.size()), '\0');
    detail::base64_encode(std::as_bytes(std::span(bytes)), text.data());
    return text;
}

struct raw_header {
    std::string_view name;
    header_type type = header_type::none;
    std::string_view value;
    std::size_t total = 0;
};

bool read_header(std::string_view from, raw_header& into) noexcept {
    if (from.size() < fixed_size) return false;
    std::uint16_t name_size = 0;
    std::uint32_t value_size = 0;
    std::memcpy(&name_size, from.data(), 2);
    const auto type = static_cast<std::uint8_t>(from[2]);
    std::memcpy(&value_size, from.data() + 3, 4);
    const std::size_t total = fixed_size + name_size + value_size;
    if (total > from.size() || type > static_cast<std::uint8_t>(header_type::foreign)) return false;
    into = {from.substr(fixed_size, name_size), static_cast<header_type>(type),
            from.substr(fixed_size + name_size, value_size), total};
    return true;
}

template <class T>
T read_number(std::string_view bytes) noexcept {
    T value{};
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

header_value decode(const raw_header& raw) {
    switch (raw.type) {
        case header_type::none:
            return {};
        case header_type::boolean:
            return raw.value[0] != 0;
        case header_type::integer:
            return read_number<std::int64_t>(raw.value);
        case header_type::floating:
            return read_number<double>(raw.value);
        case header_type::text:
            return raw.value;
        case header_type::binary:
            return std::as_bytes(std::span(raw.value));
        case header_type::foreign:
            return header_value::foreign(raw.value);
    }
    return {};
}

std::size_t fixed_value_size(header_type type) noexcept {
    switch (type) {
        case header_type::boolean:
            return 1;
        case header_type::integer:
        case header_type::floating:
            return 8;
        default:
            return 0;
    }
}

void append_value(std::string& to, const header_value& value) {
    const auto append_raw = [&](const auto& v) { to.append(reinterpret_cast<const char*>(&v), sizeof v); };
    switch (value.type()) {
        case header_type::none:
            break;
        case header_type::boolean:
            to.push_back(*value.as_boolean() ? '\1' : '\0');
            break;
        case header_type::integer:
            append_raw(*value.as_integer());
            break;
        case header_type::floating:
            append_raw(*value.as_floating());
            break;
        default:
            to.append(value.bytes());
    }
}

char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

}  // namespace

std::optional<std::int64_t> header_value::as_integer() const noexcept {
    if (type_ == header_type::integer || type_ == header_type::boolean) return integer_;
    if (type_ != header_type::text) return std::nullopt;
    std::int64_t value = 0;
    const auto [end, failed] = std::from_chars(bytes_.data(), bytes_.data() + bytes_.size(), value);
    if (failed != std::errc{} || end != bytes_.data() + bytes_.size()) return std::nullopt;
    return value;
}

std::optional<double> header_value::as_floating() const noexcept {
    if (type_ == header_type::floating) return floating_;
    if (type_ == header_type::integer) return static_cast<double>(integer_);
    return std::nullopt;
}

std::optional<bool> header_value::as_boolean() const noexcept {
    if (type_ == header_type::boolean) return integer_ != 0;
    return std::nullopt;
}

std::optional<std::string_view> header_value::as_text() const noexcept {
    if (type_ == header_type::text) return bytes_;
    return std::nullopt;
}

std::string header_value::to_string() const {
    switch (type_) {
        case header_type::none:
            return {};
        case header_type::boolean:
            return integer_ ? "true" : "false";
        case header_type::integer:
            return std::to_string(integer_);
        case header_type::floating: {
            std::array<char, 32> buffer;
            const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), floating_).ptr;
            return {buffer.data(), end};
        }
        case header_type::text:
            return std::string(bytes_);
        case header_type::binary:
        case header_type::foreign:
            return base64_of(bytes_);
    }
    return {};
}

bool operator==(const header_value& a, const header_value& b) noexcept {
    return a.type_ == b.type_ && a.integer_ == b.integer_ && a.bytes_ == b.bytes_ &&
           std::bit_cast<std::uint64_t>(a.floating_) == std::bit_cast<std::uint64_t>(b.floating_);
}

void headers_view::iterator::read() {
    raw_header raw;
    at_end_ = !read_header(rest_, raw);
    if (at_end_) return;
    current_ = {raw.name, decode(raw)};
    rest_.remove_prefix(raw.total);
}

std::size_t headers_view::size() const {
    return static_cast<std::size_t>(std::distance(begin(), end()));
}

std::optional<header_value> headers_view::find(std::string_view name) const {
    for (const auto& h : *this) {
        if (h.name == name) return h.value;
    }
    return std::nullopt;
}

std::optional<std::string_view> headers_view::text(std::string_view name) const {
    const auto value = find(name);
    return value ? value->as_text() : std::nullopt;
}

headers::headers(std::initializer_list<header> list) {
    for (const auto& h : list)
        add(h.name, h.value);
}

headers& headers::add(std::string_view name, header_value value) {
    if (name.empty() || name.size() > 65'535) {
        throw exception(error(errc::invalid_argument,
                              "a header name has " + std::to_string(name.size()) + " bytes; it must have 1 to 65,535"));
    }
    std::string bytes;
    append_value(bytes, value);
    const auto name_size = static_cast<std::uint16_t>(name.size());
    const auto value_size = static_cast<std::uint32_t>(bytes.size());
    encoded_.append(reinterpret_cast<const char*>(&name_size), 2);
    encoded_.push_back(static_cast<char>(value.type()));
    encoded_.append(reinterpret_cast<const char*>(&value_size), 4);
    encoded_.append(name);
    encoded_.append(bytes);
    return *this;
}

headers& headers::set(std::string_view name, header_value value) {
    const std::string kept_name(name);  // both may point into this list
    const std::string kept_bytes(value.bytes());
    const auto rebased = [&]() -> header_value {
        switch (value.type()) {
            case header_type::text:
                return std::string_view(kept_bytes);
            case header_type::binary:
                return std::as_bytes(std::span(kept_bytes));
            case header_type::foreign:
                return header_value::foreign(kept_bytes);
            default:
                return value;
        }
    }();
    return remove(kept_name).add(kept_name, rebased);
}

headers& headers::remove(std::string_view name) {
    std::string kept;
    raw_header raw;
    for (std::string_view rest = encoded_; read_header(rest, raw); rest.remove_prefix(raw.total)) {
        if (raw.name != name) kept.append(rest.substr(0, raw.total));
    }
    encoded_ = std::move(kept);
    return *this;
}

bool headers::well_formed(std::string_view encoded) noexcept {
    raw_header raw;
    while (!encoded.empty()) {
        if (!read_header(encoded, raw) || raw.name.empty()) return false;
        const auto fixed = fixed_value_size(raw.type);
        if (fixed && raw.value.size() != fixed) return false;
        encoded.remove_prefix(raw.total);
    }
    return true;
}

std::span<const std::string_view> reserved_header_prefixes() noexcept {
    static constexpr std::string_view prefixes[] = {"x-retry-count", "x-message-id", "x-death", "x-sequence-key",
                                                    "x-shove-"};
    return prefixes;
}

bool is_reserved_header(std::string_view name) noexcept {
    return std::ranges::any_of(reserved_header_prefixes(), [&](std::string_view prefix) {
        return name.size() >= prefix.size() &&
               std::equal(prefix.begin(), prefix.end(), name.begin(), [](char a, char b) { return a == lower(b); });
    });
}

}  // namespace shove
