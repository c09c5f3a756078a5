#pragma once

#include "core.hpp"

namespace shove::in_memory {

/// Looks into queues and moves what waits there.
class admin final : public spi::admin {
public:
    /// How long a move waits for room in its target.
    static constexpr milliseconds move_patience{10'000};

    explicit admin(core& shared) noexcept : core_(shared) {}

    void list_queues(spi::callback<void(result<std::vector<spi::queue_info>>)> done) override;
    void browse(std::string queue, std::uint64_t after, std::size_t max,
                spi::callback<void(result<std::vector<spi::browsed>>)> done) override;
    void move(std::string from, std::string to, std::vector<spi::moved> items,
              spi::callback<void(result<std::size_t>)> done) override;
    void remove(std::string queue, std::vector<std::uint64_t> cursors,
                spi::callback<void(result<std::size_t>)> done) override;
    void list_keys(std::vector<std::string> queues,
                   spi::callback<void(result<std::vector<spi::poisoned_key>>)> done) override;
    void release_key(std::string queue, std::string key, spi::callback<void(result<std::size_t>)> done) override;

private:
    core& core_;
};

}  // namespace shove::in_memory
