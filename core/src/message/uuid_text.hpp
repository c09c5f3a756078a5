#pragma once

#include <shove/message.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace shove::detail {

/// Reads a UUID in canonical text form (36 characters, lower-case). False for anything else.
bool parse_uuid(std::string_view text, std::array<std::byte, 16>& into) noexcept;

/// Writes 16 bytes as canonical text into `buffer`.
std::string_view write_uuid(const std::byte* bytes, id_buffer& buffer) noexcept;

/// Makes UUIDs of version 7 (RFC 9562 §5.7): they sort by time. Unique within a source by a counter,
/// between sources by 61 random bits.
/// @par Thread safety  Safe.
class uuid_source {
public:
    uuid_source();
    std::array<std::byte, 16> next(wall_time now) noexcept;

private:
    std::uint64_t seed_;
    std::atomic<std::uint64_t> counter_{0};
};

}  // namespace shove::detail
