#pragma once

#include <shove/consumer_group.hpp>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <vector>

#include "consumer.hpp"

namespace shove::detail {

/// The consumers of a group, from start to drain. Thread-safe.
class group_core : public std::enable_shared_from_this<group_core> {
public:
    explicit group_core(std::shared_ptr<broker_core> broker) : broker_(std::move(broker)) {}

    void add(std::shared_ptr<const queue_topology> topology, std::shared_ptr<handler_base> handler,
             consumer_options options, bool dead);
    void start();
    bool started() const;
    void begin_drain();
    run_outcome stop(milliseconds drain);
    /// Blocks until stop is requested or every consumer has ended.
    void wait(const std::stop_token& stop);
    /// Ends a drain that is under way at once.
    void cut_drain();
    consumer_stats stats(std::string_view queue) const;
    broker_core& broker() noexcept { return *broker_; }

private:
    enum class phase { idle, running, draining, ended };

    void declare_all();
    void await_subscriptions();
    void wait_drained(milliseconds drain);
    run_outcome collect();
    bool all_finished() const;
    void notify();

    const std::shared_ptr<broker_core> broker_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    phase phase_ = phase::idle;
    std::vector<consumer_plan> plans_;
    std::vector<std::shared_ptr<consumer>> consumers_;
    bool drain_cut_ = false;
    std::uint64_t version_ = 0;  ///< Raised by each change of a consumer.
};

}  // namespace shove::detail
