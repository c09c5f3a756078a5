#pragma once

#include <shove/spi/delivery.hpp>

#include <cstdint>
#include <memory>

namespace shove::in_memory {

/// What is known of a message that was handed out before.
struct record {
    std::unique_ptr<spi::history> past;
    std::uint32_t deliveries = 0;
    bool redelivered = false;
    wall_time not_before{};
};

/// One message at rest: two pointers, since almost all messages have no record.
struct entry {
    message msg;
    std::unique_ptr<record> known;
};

static_assert(sizeof(entry) == 16, "10^6 queued messages cost what they hold and little more");

/// A record where there is something to record.
inline std::unique_ptr<record> make_record(std::unique_ptr<spi::history> past, std::uint32_t deliveries,
                                           bool redelivered) {
    if (!past && deliveries == 0 && !redelivered) return nullptr;
    return std::make_unique<record>(record{std::move(past), deliveries, redelivered});
}

/// Where a message stood in its queue, with a count of its returns: what a delivery's tag holds.
struct place {
    std::uint64_t position = 0;   ///< Rises in queue order; unique in the driver; below 2^56.
    std::uint8_t generation = 0;  ///< Raised at each return, so that no two deliveries share a tag.

    std::uint64_t tag() const noexcept { return position << 8 | generation; }
    static place of(std::uint64_t tag) noexcept { return {tag >> 8, static_cast<std::uint8_t>(tag & 0xFF)}; }
};

}  // namespace shove::in_memory
