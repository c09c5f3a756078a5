#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "link.hpp"
#include "read_pace.hpp"

namespace shove::rabbitmq_backend {

/// A channel of a connection for consumers. All is called on the connection's thread.
class intake_channel {
public:
    virtual ~intake_channel() = default;
    /// Opens a channel and begins to consume. May throw as `connection` does.
    virtual void attach(connection& on) = 0;
    /// The number of its channel; 0: none.
    virtual amqp_channel_t number() const noexcept = 0;
    virtual void frame(connection& on, amqp_frame_t& what) = 0;
    /// Hands over what has come, and carries out what was posted.
    virtual void work(connection& on) = 0;
    /// When `work` is to be called at the latest.
    virtual steady_time due() const { return steady_time::max(); }
    /// How many deliveries the server sends ahead; 0: as many as there are.
    virtual std::size_t prefetch() const noexcept { return 0; }
    /// The channel is gone; by itself or with the connection.
    /// @param at  The method that the server would not carry out, where it says so; else 0.
    virtual void lost(const error& why, amqp_method_number_t at) = 0;
    /// No connection was to be had.
    virtual void unreachable(const error& why) = 0;
    /// `attach` was refused. When to try again; nothing: not at all, it is over.
    virtual std::optional<steady_time> refused(const error& why) = 0;
    /// Whether it is to be left: then `detach` is called, and nothing more.
    virtual bool leaving() const = 0;
    virtual void detach(connection* on) = 0;
};

/// A connection that carries the channels of several consumers.
/// @par Thread safety  Safe.
class intake final : link_user {
public:
    explicit intake(std::shared_ptr<const rabbitmq::config> settings);
    ~intake() override;

    void add(std::shared_ptr<intake_channel> what);
    /// How many it carries.
    std::size_t size() const;
    void wake() noexcept { link_.wake(); }
    /// Ends the connection once all that was posted is sent.
    void shut() noexcept { link_.stop(); }
    bool wait_stopped(steady_time until) { return link_.wait_stopped(until); }
    /// As `link::finish`.
    void finish() noexcept { link_.finish(); }

private:
    struct member {
        std::shared_ptr<intake_channel> what;
        steady_time next_try{};
        std::size_t deliveries = 0;  ///< Of the last read.
    };

    void connected(connection& on) override;
    void frame(connection& on, amqp_frame_t& what) override;
    void work(connection& on) override;
    std::optional<steady_time> due() const override;
    steady_time next_read() const override { return pace_.next(); }
    void lost(const error& why) override;
    void waiting(const error& why) override;
    void ended() override;
    void blocked(const std::string& reason) override { blocked_ = !reason.empty(); }
    void note_pace();
    void take_new();
    void attach(connection& on, member& who);
    void work_on(connection& on, member& who);
    void remove(connection* on);

    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<intake_channel>> arrived_;  ///< Guarded by `mutex_`.
    std::size_t count_ = 0;                                 ///< Guarded by `mutex_`.
    std::vector<member> members_;                           ///< The thread's own.
    bool blocked_ = false;                                  ///< The thread's own: the server reads nothing now.
    read_pace pace_;                                        ///< The thread's own.
    link link_;
};

}  // namespace shove::rabbitmq_backend
