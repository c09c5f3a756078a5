#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "link.hpp"

namespace shove::rabbitmq_backend {

/// A channel for questions and declarations, which is opened anew when the server closed the last one.
class ask_channel {
public:
    explicit ask_channel(connection& on) noexcept : on_(on) {}
    connection& on() noexcept { return on_; }
    /// The channel's number. May throw as `connection` does.
    amqp_channel_t number();
    /// To be called where a call on it threw `channel_failed`.
    void gone() noexcept { number_ = 0; }
    /// Closes it: what was fetched there and not settled goes back to its queue.
    void close();
    /// Whether that is the channel's number now.
    bool is(amqp_channel_t number) const noexcept { return number_ != 0 && number_ == number; }
    /// Expires with the connection, or when the server closed one of its other channels: what was opened there is gone.
    std::weak_ptr<const int> life() const noexcept { return life_; }
    void end_life() { life_ = std::make_shared<const int>(0); }

private:
    connection& on_;
    amqp_channel_t number_ = 0;
    std::shared_ptr<const int> life_ = std::make_shared<const int>(0);
};

/// Something to be asked or declared over the control connection. Runs on its thread, and may block there for the time
/// of some answers of the server. Throws as `connection` does; `fail` is called in its stead where that happened, or
/// where no connection was to be had in time.
struct control_job {
    unique_function<void(ask_channel&)> run;
    unique_function<void(const error&)> fail;
    steady_time deadline = steady_time::max();  ///< Of waiting for a connection.
    steady_time not_before{};                   ///< It is not run earlier; others overtake it.
};

/// A connection over which queues are made and asked about. One job at a time, in order.
/// @par Thread safety  Safe.
class control final : link_user {
public:
    /// @param purpose  Becomes part of the connection's name, which the server shows.
    explicit control(std::shared_ptr<const rabbitmq::config> settings, std::string purpose = "control");
    ~control() override;

    void post(control_job job);
    /// No more jobs; those that wait fail.
    void shut();
    bool wait_stopped(steady_time until) { return link_.wait_stopped(until); }
    /// As `link::finish`.
    void finish() noexcept { link_.finish(); }

private:
    void connected(connection& on) override;
    void frame(connection& on, amqp_frame_t& what) override;
    void work(connection& on) override;
    std::optional<steady_time> due() const override;
    void lost(const error& why) override;
    void waiting(const error& why) override;
    std::optional<control_job> take();

    mutable std::mutex mutex_;
    std::deque<control_job> jobs_;
    bool shut_ = false;
    std::unique_ptr<ask_channel> channel_;  ///< The thread's own.
    link link_;
};

/// What a closed driver answers.
error closed_error();

}  // namespace shove::rabbitmq_backend
