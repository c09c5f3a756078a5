#pragma once

#include <shove/delivery.hpp>
#include <shove/headers.hpp>
#include <shove/message.hpp>
#include <shove/spi/driver.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace shove::cli {

/// How a message got to a dead-letter queue.
struct death_view {
    std::string_view reason;
    std::string_view original_queue;
    std::uint32_t count = 0;
    wall_time at{};
    std::uint32_t retries = 0;
    std::uint32_t crashes = 0;
    std::string_view first_error;
    std::string_view last_error;
    wall_time first_failed_at{};
    wall_time last_failed_at{};
};

/// All that the command shows of a message, wherever it comes from; not owned.
struct letter_view {
    std::string_view id;
    std::string_view queue;
    std::uint32_t attempt = 1;
    bool redelivered = false;
    wall_time published_at{};
    wall_time expires_at{};
    std::optional<std::string_view> key;
    std::string_view content_type;
    std::string_view type;
    headers_view headers;
    std::span<const std::byte> payload;
    std::optional<death_view> death;
};

letter_view view_of(const delivery& from);
/// @param id  Keeps the id's text; must outlive the view.
letter_view view_of(const spi::browsed& from, std::string_view queue, id_buffer& id);

}  // namespace shove::cli
