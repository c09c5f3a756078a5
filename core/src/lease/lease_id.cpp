#include <shove/lease_id.hpp>

#include <optional>

namespace shove {
namespace {

using id_bytes = std::array<std::byte, 16>;
constexpr std::string_view message_prefix = "msg_";
constexpr std::string_view token_prefix = "ack_";

std::string prefixed(std::string_view prefix, const id_bytes& bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text(prefix);
    text.reserve(prefix.size() + 2 * bytes.size());
    for (const auto byte : bytes) {
        text += digits[std::to_integer<unsigned>(byte) >> 4U];
        text += digits[std::to_integer<unsigned>(byte) & 15U];
    }
    return text;
}

std::optional<id_bytes> unprefixed(std::string_view prefix, std::string_view text) {
    id_bytes bytes{};
    if (text.size() != prefix.size() + 2 * bytes.size() || !text.starts_with(prefix)) return std::nullopt;
    text.remove_prefix(prefix.size());
    const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const int high = digit(text[2 * i]);
        const int low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes[i] = static_cast<std::byte>(high * 16 + low);
    }
    return bytes;
}

}  // namespace

std::string message_id::text() const {
    return prefixed(message_prefix, bytes_);
}

result<message_id> message_id::parse(std::string_view text) {
    if (const auto read = unprefixed(message_prefix, text)) return message_id(*read);
    return error(errc::invalid_argument, "a message id is 'msg_' and 32 lower-case hexadecimal digits");
}

std::string lease_token::text() const {
    return prefixed(token_prefix, bytes_);
}

result<lease_token> lease_token::parse(std::string_view text) {
    if (const auto read = unprefixed(token_prefix, text)) return lease_token(*read);
    return error(errc::invalid_argument, "a lease token is 'ack_' and 32 lower-case hexadecimal digits");
}

}  // namespace shove
