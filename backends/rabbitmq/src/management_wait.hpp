#pragma once

#include <shove/clock.hpp>

#include <boost/asio/io_context.hpp>

#include <atomic>
#include <cstdint>

namespace shove::rabbitmq_backend {

/// How a wait ended.
enum class wait_end : std::uint8_t { done, timed_out, stopped };

/// Lets one thread wait for asynchronous operations of Asio: until they are done, a deadline, or a stop.
/// Real time, also in tests: it waits for another process.
/// @par Thread safety  One thread waits; `stop` and `is_stopped` from any.
class timed_wait {
public:
    /// Operations to wait for are started on this.
    boost::asio::io_context& context() noexcept { return context_; }
    /// Runs handlers until one has set `done`.
    wait_end until(const bool& done, steady_time deadline);
    /// Runs handlers until one has set `done`, for an operation that was told to end.
    void finish(const bool& done);
    /// Ends the running wait and all later ones.
    void stop();
    /// True once `stop` was called.
    bool is_stopped() const noexcept { return stopped_; }

private:
    std::atomic<bool> stopped_{false};
    boost::asio::io_context context_;
};

}  // namespace shove::rabbitmq_backend
