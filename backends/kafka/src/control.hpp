#pragma once

#include <shove/detail/question_desk.hpp>

#include <memory>
#include <mutex>

#include "handle.hpp"

namespace shove::kafka_backend {

/// The client with which topics are made, and the cluster is asked about them. Its questions block, so they have a
/// thread.
/// @par Thread safety  Safe.
class control {
public:
    control(std::shared_ptr<const kafka::config> settings, std::shared_ptr<loop> on);

    /// Makes the client, without a connection yet. Once, before all else.
    /// @par Errors  As `handle::make`: certificates and keys are read here.
    error open();
    /// Calls `what` on the thread, or, closed, `refused`. Neither may throw.
    void ask(unique_function<void(rd_kafka_t*)> what, unique_function<void(const error&)> refused);
    void shut() { desk_.shut(); }
    bool wait_stopped(steady_time until) { return desk_.wait_stopped(until); }
    /// Waits for the thread, and ends the client. Not to be called there, or on the loop's.
    void finish();

    /// Adds to why a question had no answer what the client said of its connections: a refused password, a certificate
    /// that is not trusted.
    error explained(error why) const;

    const kafka::config& settings() const noexcept { return *settings_; }
    /// How long an answer may take, for librdkafka.
    int patience() const noexcept { return static_cast<int>(settings_->connect_timeout.count()); }

private:
    const std::shared_ptr<const kafka::config> settings_;
    const std::shared_ptr<loop> on_;
    void hear(rd_kafka_queue_t* events);

    std::shared_ptr<handle> client_;
    mutable std::mutex mutex_;
    error last_;  ///< What the client said last of its connections.
    detail::question_desk desk_;
};

}  // namespace shove::kafka_backend
