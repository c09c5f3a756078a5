#pragma once

#include <shove/autoscaler.hpp>
#include <shove/consumer_group.hpp>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <vector>

#include "crew.hpp"
#include "respawner.hpp"
#include "scaler.hpp"

namespace shove::detail {

/// The registrations of a group, from start to drain. Each has its `crew` of consumers, a `respawner` that replaces
/// dead ones, and where the group scales itself a part in the `scaler`. Thread-safe.
class group_core : public std::enable_shared_from_this<group_core> {
public:
    group_core(std::shared_ptr<broker_core> broker, consumer_options defaults)
        : broker_(std::move(broker)), defaults_(std::move(defaults)) {}

    void add(registration what, handler_factory make);
    void enable_autoscaling(autoscaler_options options);
    void start();
    bool started() const;
    void begin_drain();
    run_outcome stop(milliseconds drain);
    /// Blocks until stop is requested, a drain has begun, or the broker was closed and every consumer has ended.
    void wait(const std::stop_token& stop);
    /// Ends a drain that is under way at once.
    void cut_drain();
    consumer_stats stats(std::string_view queue) const;
    /// Adds calls that are stuck.
    void report_stuck(std::vector<stuck_call>& to) const;

    /// A registration as those see it who look at queues.
    struct consumed {
        std::shared_ptr<const queue_topology> topology;
        std::vector<std::string> places;  ///< The queues that it reads.
        std::uint64_t consumers = 0;
        steady_time last_received{};
    };
    /// All registrations but those of dead letters and broadcasts.
    std::vector<consumed> consumes() const;
    broker_core& broker() noexcept { return *broker_; }

private:
    enum class phase { idle, running, draining, ended };
    using keepers = std::vector<std::shared_ptr<respawner>>;

    void enter_start();
    void hire_crew(consumer_plan plan, handler_factory make);
    void declare_all();
    crew::consumers hire_all();
    void await_subscriptions();
    void supervise();
    void follow_audit(const std::shared_ptr<audit_trail>& trail) const;
    void flush_audit(milliseconds deadline) const;
    void wait_drained(milliseconds drain);
    run_outcome collect() const;
    bool all_finished() const;
    void wake();
    void crew_changed(std::size_t which);

    const std::shared_ptr<broker_core> broker_;
    const consumer_options defaults_;
    mutable std::mutex mutex_;
    std::condition_variable_any changed_;
    phase phase_ = phase::idle;
    keepers keepers_;  ///< One per registration; fixed once started.
    std::optional<autoscaler_options> scaling_;
    std::shared_ptr<scaler> scaler_;
    bool supervised_ = false;  ///< The start is over: who ends from now on is replaced.
    bool drain_cut_ = false;
};

}  // namespace shove::detail
