#pragma once

#include <shove/detail/unique_function.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

namespace shove::kafka_backend {

/// The thread of a driver on which the queues of its clients are served: work that never blocks, one after another.
/// @par Thread safety  Safe.
class reactor {
public:
    using clock = std::chrono::steady_clock;

    reactor();
    reactor(const reactor&) = delete;
    reactor& operator=(const reactor&) = delete;
    ~reactor();

    /// Runs it on the thread, soon. May be called under a lock of the client library's.
    void post(unique_function<void()> task);
    /// Runs it on the thread at that time.
    void post_at(clock::time_point when, unique_function<void()> task);
    bool on_thread() const noexcept { return std::this_thread::get_id() == thread_.get_id(); }
    /// Runs what was posted, drops what is for later, and ends the thread. Not to be called there.
    void finish();

private:
    boost::asio::io_context io_{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
    std::atomic<bool> finished_ = false;
    std::thread thread_;
};

}  // namespace shove::kafka_backend
