#pragma once

#include <shove/error.hpp>

#include <array>
#include <compare>
#include <cstddef>
#include <string>
#include <string_view>

namespace shove {

/// The id of a message that was published for leases: 16 bytes, random, for good. It is what a consumer deduplicates
/// by.
class message_id {
public:
    message_id() = default;
    explicit message_id(const std::array<std::byte, 16>& bytes) noexcept : bytes_(bytes) {}

    /// `msg_` and 32 lower-case hexadecimal digits.
    std::string text() const;
    /// Reads just that. Error: `errc::invalid_argument`.
    static result<message_id> parse(std::string_view text);

    const std::array<std::byte, 16>& bytes() const noexcept { return bytes_; }
    friend auto operator<=>(const message_id&, const message_id&) = default;

private:
    std::array<std::byte, 16> bytes_{};
};

/// The right to settle one delivery, once: a secret of 128 random bits, no use after that or after the lease's end.
/// Print it to hand it to another process; keep it out of logs, since whoever has it may settle.
class lease_token {
public:
    lease_token() = default;
    explicit lease_token(const std::array<std::byte, 16>& bytes) noexcept : bytes_(bytes) {}

    /// `ack_` and 32 lower-case hexadecimal digits.
    std::string text() const;
    /// Reads just that. Error: `errc::invalid_argument`, which does not repeat the text.
    static result<lease_token> parse(std::string_view text);

    const std::array<std::byte, 16>& bytes() const noexcept { return bytes_; }
    friend auto operator<=>(const lease_token&, const lease_token&) = default;

private:
    std::array<std::byte, 16> bytes_{};
};

}  // namespace shove
