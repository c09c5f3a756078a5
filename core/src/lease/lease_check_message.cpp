#include <shove/detail/lease_rules.hpp>
#include <shove/trace.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "lease_check.hpp"

namespace shove::detail {
namespace {

constexpr std::size_t most_name = 128;
constexpr std::size_t most_topic = 255;
constexpr std::size_t most_content_type = 127;
constexpr std::size_t most_headers = 32;
constexpr std::size_t most_header_bytes = 8'192;
constexpr std::size_t most_header_name = 64;
constexpr std::size_t most_header_value = 1'024;

/// An alphabet as a table: what a name may hold is asked for every byte of every message.
class alphabet {
public:
    constexpr explicit alphabet(std::string_view letters) {
        for (const char c : letters)
            has_[static_cast<unsigned char>(c)] = true;
    }
    constexpr bool holds(std::string_view text) const noexcept {
        for (const char c : text) {
            if (!has_[static_cast<unsigned char>(c)]) return false;
        }
        return true;
    }

private:
    std::array<bool, 256> has_{};
};

constexpr alphabet name_letters("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:");
constexpr alphabet key_letters("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_:/");
constexpr alphabet lower_letters("abcdefghijklmnopqrstuvwxyz0123456789.-_");
constexpr alphabet token_letters("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~");

error wrong(std::string_view what, std::string_view rule) {
    std::string text(what);
    text.append(": give ").append(rule);
    return {errc::invalid_argument, std::move(text)};
}

bool fits(std::string_view text, std::size_t most, const alphabet& letters) {
    return !text.empty() && text.size() <= most && letters.holds(text);
}

/// The length of the character that begins a text, where it is well-formed UTF-8 and no control character; else 0.
std::size_t character(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const auto more = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0U) == 0x80; };
    const unsigned first = byte(0);
    if (first < 0x80) return first >= 0x20 && first != 0x7F ? 1 : 0;
    if (first < 0xC2 || first > 0xF4 || !more(1)) return 0;
    const unsigned second = byte(1);
    if (first < 0xE0) return first == 0xC2 && second < 0xA0 ? 0 : 2;
    if (!more(2)) return 0;
    if (first < 0xF0) return (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ? 0 : 3;
    if (!more(3)) return 0;
    return (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F) ? 0 : 4;
}

bool is_header_value(std::string_view value) {
    if (value.size() > most_header_value) return false;
    while (!value.empty()) {
        const auto length = character(value);
        if (length == 0) return false;
        value.remove_prefix(length);
    }
    return true;
}

error too_many(std::string_view what, std::size_t most) {
    return {errc::too_large,
            "the limit of " + std::to_string(most) + " " + std::string(what) + " is passed; send less"};
}

error check_order(const headers& of) {
    std::vector<header> sorted(of.begin(), of.end());
    const bool ordered = std::ranges::is_sorted(sorted, {}, &header::name);
    if (check_headers(sorted) || !ordered) return {errc::storage_corrupt, "message headers"};
    return {};
}

error order_headers(headers& of) {
    std::vector<header> sorted(of.begin(), of.end());
    if (auto breach = check_headers(sorted)) return breach;
    if (auto context = read_trace(of); !context) return context.error();
    headers ordered;
    for (const auto& each : sorted)
        ordered.add(each.name, each.value);
    of = std::move(ordered);
    return {};
}

}  // namespace

error check_content_type(std::string_view value) {
    const auto slash = value.find('/');
    if (value.size() <= most_content_type && slash != value.npos && slash > 0 && slash + 1 < value.size() &&
        token_letters.holds(value.substr(0, slash)) && token_letters.holds(value.substr(slash + 1))) {
        return {};
    }
    return wrong("content type", "type/subtype of up to 127 bytes, without parameters");
}

// In the order of the contract: name, value, duplicate, count, bytes in all.
error check_headers(std::vector<header>& sorted) {
    const auto by_name = [](const header& a, const header& b) { return a.name < b.name; };
    std::size_t bytes = 0;
    for (const auto& each : sorted) {
        if (!fits(each.name, most_header_name, lower_letters)) {
            return wrong("message header name", "1 to 64 bytes of a-z 0-9 - _ .");
        }
        const auto value = each.value.as_text();
        if (!value || !is_header_value(*value)) {
            return wrong("message header value", "up to 1,024 bytes of UTF-8 text without control characters");
        }
        bytes += each.name.size() + value->size();
    }
    std::ranges::sort(sorted, by_name);
    const auto twice =
        std::ranges::adjacent_find(sorted, [](const auto& a, const auto& b) { return a.name == b.name; });
    if (twice != sorted.end()) {
        return wrong("message header name", "each name once; '" + std::string(twice->name) + "' is there twice");
    }
    if (sorted.size() > most_headers) return too_many("message headers", most_headers);
    if (bytes > most_header_bytes) return too_many("message header bytes", most_header_bytes);
    return {};
}

error check_name(std::string_view what, std::string_view value) {
    return fits(value, most_name, name_letters) ? error() : wrong(what, "1 to 128 bytes of A-Z a-z 0-9 . - _ :");
}

error check_topic(std::string_view value) {
    return fits(value, most_topic, name_letters) ? error() : wrong("topic", "1 to 255 bytes of A-Z a-z 0-9 . - _ :");
}

error check_code(std::string_view value) {
    return fits(value, most_name, lower_letters) ? error() : wrong("failure code", "1 to 128 bytes of a-z 0-9 . - _");
}

error check_stored(const lease_envelope& envelope) {
    if (!fits(envelope.event_kind, most_name, name_letters)) return {errc::storage_corrupt, "message event kind"};
    if (check_content_type(envelope.content_type)) return {errc::storage_corrupt, "message content type"};
    return envelope.headers.empty() ? error() : check_order(envelope.headers);
}

error check_message(lease_message& message, const lease_limits& limits) {
    if (auto breach = check_topic(message.topic)) return breach;
    if (auto breach = check_name("event kind", message.event_kind)) return breach;
    if (!fits(message.idempotency_key, most_topic, key_letters)) {
        return wrong("idempotency key", "1 to 255 bytes of A-Z a-z 0-9 . - _ : /");
    }
    if (auto breach = check_content_type(message.content_type)) return breach;
    if (!message.headers.empty()) {
        if (auto breach = order_headers(message.headers)) return breach;
    }
    if (message.payload.size() > limits.payload_bytes) return too_many("message payload bytes", limits.payload_bytes);
    return {};
}

}  // namespace shove::detail
