#pragma once

#include <shove/clock.hpp>
#include <shove/detail/unique_function.hpp>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "connection.hpp"

namespace shove::rabbitmq_backend {

/// What is done over a connection: the part of a link that is particular. All is called on the link's thread.
class link_user {
public:
    virtual ~link_user() = default;
    /// The connection stands: open channels, say again what was said on the last one. May throw as `connection` does;
    /// then it is dialled again.
    virtual void connected(connection& on) = 0;
    /// A frame arrived.
    virtual void frame(connection& on, amqp_frame_t& what) = 0;
    /// No more frames are there for now: do what waits to be done. Also called after `link::wake`.
    virtual void work(connection& on) = 0;
    /// When `work` or, without a connection, `waiting` is to be called at the latest.
    virtual std::optional<steady_time> due() const { return std::nullopt; }
    /// Nothing is read before: more comes together then. In the past: at once.
    virtual steady_time next_read() const { return {}; }
    /// The connection is gone, and what was under way with it. Also called at the end of one that was closed.
    virtual void lost(const error& why) = 0;
    /// There is no connection; called when one could not be had, at `due`, and after `link::wake`.
    /// @param why  Of the last attempt.
    virtual void waiting(const error& why) = 0;
    /// The link's thread is at its end: nothing is called any more.
    virtual void ended() {}
    /// The server takes no publishes now, and says why; an empty text: it does again.
    virtual void blocked(const std::string& reason) { (void)reason; }
};

/// A connection that is kept up: dialled when it is needed first, and again with backoff whenever it is lost (G8), at
/// the next of the servers each time. It has a thread, which alone touches the connection.
/// @par Thread safety  Safe.
class link {
public:
    /// @param user  Outlives the link.
    link(std::shared_ptr<const rabbitmq::config> settings, std::string purpose, link_user& user);
    link(const link&) = delete;
    link& operator=(const link&) = delete;
    /// Cuts the connection if `stop` was not called or is not done yet, and waits for the thread.
    ~link();

    /// Dials, if that was not done yet.
    void start();
    /// Has `work` called soon.
    void wake() noexcept;
    /// Has the link end once `work` was called one more time: the connection is closed in order. Does not wait.
    void stop() noexcept;
    /// Waits until the thread is at its end, or the time is over. False: it is not.
    bool wait_stopped(steady_time until);
    /// Ends a connection that does not end by itself.
    void cut() noexcept;
    /// Stops, cuts and waits for the thread: nothing runs there any more when this returns. Not to be called there.
    void finish() noexcept;

private:
    void run();
    /// One connection's life. Returns when it was stopped, else throws `connection_failed`.
    void serve(connection& on);
    void read(connection& on);
    /// True: there is something to be read, or the connection has failed.
    bool wait(int descriptor, std::optional<steady_time> until) noexcept;
    /// As `wait`, for what comes over the connection.
    bool wait_for(connection& on);
    std::unique_ptr<connection> dial();
    /// Waits before the next attempt, longer each time.
    void back_off(unsigned failures, const error& why);
    void end();

    const std::shared_ptr<const rabbitmq::config> settings_;
    const std::string purpose_;
    link_user& user_;
    int bell_ = -1;  ///< An eventfd: rung by `wake`.
    std::atomic<bool> rung_{false};
    std::atomic<bool> stopping_{false};
    std::mutex mutex_;  ///< Guards all below.
    std::condition_variable changed_;
    connection* current_ = nullptr;
    bool cut_ = false;
    bool running_ = false;
    std::size_t next_server_ = 0;  ///< The thread's own.
    std::mt19937 random_;          ///< The thread's own.
    std::thread thread_;
};

}  // namespace shove::rabbitmq_backend
