#pragma once

#include <shove/spi/backend.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace shove {

/// The backend inside the process: bounded queues in memory, nothing outside of it. For tests, for
/// pipelines within one program, and to try things out. Everything ends with the process.
struct inprocess {
    struct config {
        /// The most messages that one queue holds: ready, in flight and delayed ones together.
        std::size_t capacity = 10'000;
        /// The most bytes of payloads and headers that one queue holds, counted alike; none: no limit.
        std::optional<std::size_t> max_bytes{};
    };

    static constexpr spi::capabilities capabilities{
        .backend = "inprocess",
        .delayed_publish = true,
        .any_delay = true,
        .admin = true,
        .key_order = true,
        .keeps_keys = true,
        .broadcast = true,
        .reader_groups = true,
    };
    static constexpr std::array<std::string_view, 1> schemes{"memory"};

    /// Reads `memory:`, optionally with `?capacity=N` and `&max_bytes=N`. Error: `errc::invalid_argument`,
    /// with the option that is unknown or has a bad value.
    static result<config> parse(std::string_view url);
    /// Makes a broker of its own: two of them share nothing. Error: `errc::invalid_argument`.
    static result<std::shared_ptr<spi::driver>> open(const config& settings, const spi::driver_context& context);
};

static_assert(spi::backend<inprocess>);

}  // namespace shove
