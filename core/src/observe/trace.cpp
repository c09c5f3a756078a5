#include <shove/trace.hpp>

#include <algorithm>
#include <unordered_set>

namespace shove {
namespace {

constexpr std::string_view parent_header = "traceparent";
constexpr std::string_view state_header = "tracestate";
constexpr std::size_t parent_size = 55;
constexpr std::size_t max_state = 512;
constexpr std::size_t max_members = 32;
constexpr std::size_t max_member = 256;

error invalid(const char* why) {
    return {errc::invalid_argument, std::string("trace context: ") + why};
}

/// Lower-case hexadecimal digits, exactly as many as there are; nothing for anything else.
template <std::size_t N>
bool read_hex(std::string_view text, std::array<std::uint8_t, N>& into) {
    const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
    for (std::size_t i = 0; i < N; ++i) {
        const int high = digit(text[2 * i]);
        const int low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        into[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    return true;
}

template <std::size_t N>
void write_hex(std::string& to, const std::array<std::uint8_t, N>& bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (const auto byte : bytes) {
        to += digits[byte >> 4U];
        to += digits[byte & 15U];
    }
}

template <std::size_t N>
bool all_zero(const std::array<std::uint8_t, N>& bytes) {
    return std::ranges::all_of(bytes, [](auto b) { return b == 0; });
}

bool read_parent(std::string_view text, trace_context& into) {
    if (text.size() != parent_size || !text.starts_with("00-") || text[35] != '-' || text[52] != '-') return false;
    std::array<std::uint8_t, 1> flags{};
    if (!read_hex(text.substr(3, 32), into.trace_id) || !read_hex(text.substr(36, 16), into.span_id) ||
        !read_hex(text.substr(53, 2), flags)) {
        return false;
    }
    into.flags = flags[0];
    return !all_zero(into.trace_id) && !all_zero(into.span_id);
}

bool is_lower(char c) {
    return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_key_text(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return is_lower(c) || is_digit(c) || c == '_' || c == '-' || c == '*' || c == '/'; });
}

bool is_key(std::string_view key) {
    const auto at = key.find('@');
    if (at == key.npos) return !key.empty() && key.size() <= 256 && is_lower(key[0]) && is_key_text(key);
    const auto tenant = key.substr(0, at);
    const auto system = key.substr(at + 1);
    return !tenant.empty() && tenant.size() <= 241 && (is_lower(tenant[0]) || is_digit(tenant[0])) &&
           is_key_text(tenant) && !system.empty() && system.size() <= 14 && is_lower(system[0]) && is_key_text(system);
}

bool is_state_value(std::string_view value) {
    return !value.empty() && value.size() <= max_member &&
           std::ranges::all_of(value, [](char c) { return c >= 0x21 && c <= 0x7e && c != ',' && c != '='; });
}

error check_state(std::string_view state) {
    if (state.size() > max_state || state.front() == ' ' || state.back() == ' ' ||
        static_cast<std::size_t>(std::ranges::count(state, ',')) >= max_members) {
        return invalid("tracestate is outside the supported bounds");
    }
    std::unordered_set<std::string_view> keys;
    for (std::size_t from = 0; from <= state.size();) {
        const auto comma = std::min(state.find(',', from), state.size());
        const auto member = state.substr(from, comma - from);
        const auto equals = member.find('=');
        if (equals == member.npos || !is_key(member.substr(0, equals)) || !is_state_value(member.substr(equals + 1))) {
            return invalid("a tracestate member is malformed");
        }
        if (!keys.insert(member.substr(0, equals)).second) return invalid("a tracestate key is there twice");
        from = comma + 1;
    }
    return {};
}

/// The text of a header that may be there once; nothing if it is not.
result<std::optional<std::string_view>> only_text(headers_view in, std::string_view name) {
    std::optional<std::string_view> found;
    for (const auto& h : in) {
        if (h.name != name) continue;
        if (found) return invalid("a header is there twice");
        found = h.value.as_text();
        if (!found) return invalid("a header is not a text");
    }
    return found;
}

}  // namespace

std::string trace_context::parent() const {
    std::string text = "00-";
    write_hex(text, trace_id);
    text += '-';
    write_hex(text, span_id);
    text += '-';
    write_hex(text, std::array{flags});
    return text;
}

std::string trace_context::trace_id_text() const {
    std::string text;
    write_hex(text, trace_id);
    return text;
}

result<trace_context> parse_trace(std::string_view parent, std::string_view state) {
    trace_context read;
    if (!read_parent(parent, read)) return invalid("traceparent must be canonical W3C version 00");
    if (state.empty()) return read;
    if (auto wrong = check_state(state)) return wrong;
    read.state = state;
    return read;
}

result<std::optional<trace_context>> read_trace(headers_view headers) {
    auto parent = only_text(headers, parent_header);
    if (!parent) return parent.error();
    auto state = only_text(headers, state_header);
    if (!state) return state.error();
    if (!*parent && !*state) return std::optional<trace_context>();
    if (!*parent) return invalid("tracestate requires traceparent");
    if (*state && (*state)->empty()) return invalid("tracestate is outside the supported bounds");
    auto read = parse_trace(**parent, state->value_or(""));
    if (!read) return read.error();
    return std::optional<trace_context>(std::move(*read));
}

void write_trace(headers& into, const trace_context& context) {
    into.set(parent_header, context.parent());
    into.remove(state_header);
    if (!context.state.empty()) into.add(state_header, context.state);
}

}  // namespace shove
