#pragma once

#include "database.hpp"

#include <shove/clock.hpp>
#include <shove/spi/driver.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace shove::sqlite_backend {

/// Questions about queues, over a connection that only reads.
class view {
public:
    view(const database::options& settings, std::shared_ptr<clock> time);

    spi::queue_depth depth(std::string_view queue);
    std::vector<spi::queue_info> list();
    std::vector<spi::browsed> browse(std::string_view queue, std::uint64_t after, std::size_t max);

    std::vector<spi::poisoned_key> poisoned(const std::vector<std::string>& queues);

    database& connection() noexcept { return db_; }

    /// A page of `browse` ends after this many bytes of payload; it always holds one message.
    static constexpr std::size_t max_page_bytes = 32 * 1024 * 1024;

private:
    struct place {
        std::int64_t group = 0;
        std::int64_t tail = 0;
        std::int64_t cursor = 0;
        std::int64_t gaps = 0;
        std::int64_t first = 0;  ///< All numbers of the queue are above this one.
    };
    place find(std::string_view queue);
    spi::queue_depth measure(const place& at);

    database db_;
    std::shared_ptr<clock> time_;
    statement find_;
    statement count_ready_;
    statement count_delayed_;
    statement count_leased_;
    statement oldest_in_log_;
    statement oldest_parked_;
    statement names_;
    statement browse_;
    statement poisoned_;
};

}  // namespace shove::sqlite_backend
