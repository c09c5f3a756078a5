#pragma once

#include <shove/spi/driver.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace shove::kafka_backend {

/// A subscription as its member's loop sees it.
struct receiver {
    std::uint64_t id = 0;
    std::optional<std::uint16_t> shard{};
    std::size_t prefetch = 1;
    std::size_t max = 0;                                                ///< Of the waiting receive.
    spi::callback<void(result<std::vector<spi::delivery>>)> waiting{};  ///< Null: none.
    std::optional<error> failure{};                                     ///< For the next receive.
    /// Its shard is being given up: it was told, or is with its next receive. It has settled all once it asks anew.
    bool told_lost = false;
    bool closed = false;

    /// Answers the waiting receive.
    void answer(result<std::vector<spi::delivery>> with) {
        auto done = std::exchange(waiting, nullptr);
        if (done) done(std::move(with));
    }
};

}  // namespace shove::kafka_backend
