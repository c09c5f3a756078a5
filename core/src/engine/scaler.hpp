#pragma once

#include <shove/autoscaler.hpp>
#include <shove/clock.hpp>
#include <shove/spi/driver.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "../decide/autoscale.hpp"
#include "alarm.hpp"
#include "scaled.hpp"

namespace shove::detail {

class broker_core;

/// Follows the load of a group's registrations: asks for the depth of their queues, has `decide` say what to do, and
/// does it. All but `start` and `stop` runs on the broker's supervising thread, which keeps its state in order.
class scaler : public std::enable_shared_from_this<scaler> {
public:
    scaler(std::shared_ptr<broker_core> broker, autoscaler_options options);

    /// Adds a registration, before `start`.
    void watch(std::unique_ptr<scaled> what);
    void start();
    /// Nothing is added or taken away any more. From any thread.
    void stop() { alarm_.stop(); }

private:
    struct watched {
        std::unique_ptr<scaled> what;
        decide::scale_governor governor;
        bool asking = false;   ///< The driver has not answered yet.
        bool failing = false;  ///< It failed last time, and that was said.
    };

    void plan_poll();
    void poll(steady_time now);
    void ask(std::size_t which, steady_time now);
    void answered(std::size_t which, const result<spi::queue_depth>& depth, steady_time now);
    scale_decision wish(const scale_snapshot& seen) const;
    std::uint32_t carry_out(scaled& what, const scale_decision& decision) const;
    void note(const scale_report& what) const;
    void report(scale_report what) const;

    const std::shared_ptr<broker_core> broker_;
    const autoscaler_options options_;
    const std::shared_ptr<scaling_strategy> strategy_;
    std::vector<watched> watched_;
    alarm alarm_;
    std::atomic<bool> polling_{false};
};

/// Throws `exception` (`invalid_argument`) if an option breaks a rule.
void check_scaling(const autoscaler_options& options);

}  // namespace shove::detail
