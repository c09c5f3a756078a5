#pragma once

#include <shove/clock.hpp>
#include <shove/error.hpp>
#include <shove/lease_message.hpp>
#include <shove/lease_options.hpp>
#include <shove/spi/lease_port.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

/// What every port of leases decides and answers alike.
namespace shove::detail {

/// The failure code of a message whose last lease ended.
inline constexpr std::string_view attempts_used_up = "delivery.max_attempts";

/// What becomes of a message whose delivery number `attempt` failed, or whose lease ended.
constexpr bool gives_up(std::uint32_t attempt, const lease_limits& limits) noexcept {
    return attempt >= limits.attempts;
}

/// What a lease broker is opened with. Error: `errc::invalid_argument`, which names the option.
error check_options(const lease_options& options);
/// The grammar of a message that comes from a store. Error: its detail names the part that breaks it.
error check_stored(const lease_envelope& envelope);

/// The SHA-256 that tells whether a message under a used key is the same one. Its headers must be in order of their
/// names.
spi::fingerprint fingerprint_of(const lease_message& message);

/// A key's place in an index: the same in every process, for good; others may share it.
std::int64_t key_hash(std::string_view topic, std::string_view key);

using random_16 = std::array<std::byte, 16>;
/// Random bytes that nobody can guess, asked of the system many at a time. Used bytes are wiped.
/// @par Thread safety  None.
class random_source {
public:
    /// Error: `errc::randomness_unavailable`.
    error fill(std::span<random_16> into);
    /// The same as message ids: UUIDs of version 4.
    error fill_uuids(std::span<random_16> into);

private:
    std::array<random_16, 256> pool_{};
    std::size_t left_ = 0;
};

/// The calendar's time in milliseconds. Error: `errc::clock_out_of_range` before 1970.
result<std::int64_t> wall_ms(const clock& time);
/// `now + by`; the same error where that does not fit.
result<std::int64_t> later_ms(std::int64_t now, milliseconds by);
constexpr wall_time from_ms(std::int64_t ms) noexcept {
    return wall_time(milliseconds(ms));
}

// The errors of the contract. A text names what was asked for, never a key, a token or a payload.
error no_subscription(std::string_view topic, std::string_view group);
error lease_unknown();
error lease_over();
error key_taken(std::string_view topic);
/// @param resource  Such as "retained messages".
error no_capacity(std::string_view resource, std::uint64_t limit);
error broker_closed();

}  // namespace shove::detail
