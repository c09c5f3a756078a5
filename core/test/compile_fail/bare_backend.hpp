#pragma once

#include <shove/shove.hpp>

#include <array>
#include <string>
#include <string_view>

/// A backend that can do nothing beyond the obligatory.
struct bare {
    struct config {};
    static constexpr shove::spi::capabilities capabilities{.backend = "bare"};
    static constexpr std::array<std::string_view, 1> schemes{"bare"};
    static shove::result<config> parse(std::string_view url);
    static shove::result<std::shared_ptr<shove::spi::driver>> open(const config&, const shove::spi::driver_context&);
};

/// The same with everything.
struct able : bare {
    static constexpr shove::spi::capabilities capabilities{
        .backend = "able",
        .delayed_publish = true,
        .admin = true,
        .key_order = true,
        .broadcast = true,
        .reader_groups = true,
        .external_topology = true,
    };
};

#ifdef FIXED
using chosen = able;
#else
using chosen = bare;
#endif

struct notes : shove::topic<std::string, shove::raw> {
    static constexpr auto topology = shove::topology("notes").dlq();
};
