#pragma once

#include <shove/detail/question_desk.hpp>

#include <memory>

#include "handle.hpp"

namespace shove::kafka_backend {

/// The client with which topics are made, and the cluster is asked about them. Its questions block, so they have a
/// thread.
/// @par Thread safety  Safe.
class control {
public:
    control(std::shared_ptr<const kafka::config> settings, std::shared_ptr<loop> on);

    /// Calls `what` on the thread, with a client of `role::asking` that is made for the first. `refused` is called in
    /// its stead where there is none: closed, or the settings make none. Neither may throw.
    void ask(unique_function<void(rd_kafka_t*)> what, unique_function<void(const error&)> refused);
    void shut() { desk_.shut(); }
    bool wait_stopped(steady_time until) { return desk_.wait_stopped(until); }
    /// Waits for the thread, and ends the client. Not to be called there, or on the loop's.
    void finish();

    const kafka::config& settings() const noexcept { return *settings_; }
    /// How long an answer may take, for librdkafka.
    int patience() const noexcept { return static_cast<int>(settings_->connect_timeout.count()); }

private:
    const std::shared_ptr<const kafka::config> settings_;
    const std::shared_ptr<loop> on_;
    std::shared_ptr<handle> client_;  ///< The thread's own.
    detail::question_desk desk_;
};

}  // namespace shove::kafka_backend
