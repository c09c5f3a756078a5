#pragma once

#include <shove/spi/driver.hpp>

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

namespace shove::detail {

/// Waits until each settlement of a batch has its fate, and tells then which have failed.
/// @par Thread safety  Safe.
class settlement_fates {
public:
    using finished = spi::callback<void(std::vector<spi::failed_settlement>)>;

    /// @param count   Settlements whose fate is open.
    /// @param failed  What of the batch has failed already.
    settlement_fates(std::size_t count, std::vector<spi::failed_settlement> failed, finished done)
        : failed_(std::move(failed)), left_(count), done_(std::move(done)) {}

    /// That one has failed. Its fate is open until `count_down`.
    void fail(spi::settlement what, error cause) {
        const std::lock_guard lock(mutex_);
        failed_.push_back({std::move(what), std::move(cause)});
    }
    /// So many more have their fate. May end all.
    void count_down(std::size_t count) {
        if (count == 0) return;
        finished done;
        std::vector<spi::failed_settlement> failed;
        {
            const std::lock_guard lock(mutex_);
            left_ -= count;
            if (left_ > 0) return;
            done = std::exchange(done_, nullptr);
            failed = std::move(failed_);
        }
        done(std::move(failed));
    }

private:
    std::mutex mutex_;
    std::vector<spi::failed_settlement> failed_;  // guarded, as the rest
    std::size_t left_;
    finished done_;
};

}  // namespace shove::detail
