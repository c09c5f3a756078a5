#pragma once

#include <shove/clock.hpp>
#include <shove/spi/driver.hpp>

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>

namespace shove::sqlite_backend {

/// The end of a driver, and who waits for it.
/// @par Thread safety  Safe.
class ending : public std::enable_shared_from_this<ending> {
public:
    explicit ending(std::string path) : path_(std::move(path)) {}

    /// Calls back once the driver has ended, or with `errc::timed_out` at the deadline.
    void wait(steady_time deadline, clock& time, spi::callback<void(error)> done);
    /// The driver has ended.
    void reached();
    /// Becomes true at the first deadline that passed: no more waiting for other processes.
    std::shared_ptr<const std::atomic<bool>> hurry() const noexcept { return hurry_; }

private:
    struct waiting {
        std::uint64_t ticket = 0;
        spi::callback<void(error)> done;
    };
    void expire(std::uint64_t ticket);

    const std::string path_;
    std::shared_ptr<std::atomic<bool>> hurry_ = std::make_shared<std::atomic<bool>>(false);
    std::mutex guard_;
    bool reached_ = false;
    std::uint64_t last_ticket_ = 0;
    std::list<waiting> waiting_;
};

}  // namespace shove::sqlite_backend
