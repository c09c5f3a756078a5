#pragma once

#include <shove/clock.hpp>

#include <memory>

#include "alarm.hpp"

namespace shove::detail {

class broker_core;

/// Looks at the depth of all queues that the groups of a broker consume, now and then, for the metrics. A queue whose
/// depth is not told keeps its last one.
class depth_sampler : public std::enable_shared_from_this<depth_sampler> {
public:
    /// @param broker  Owns the sampler; callbacks that come late do nothing.
    depth_sampler(std::weak_ptr<broker_core> broker, shove::clock& clock, milliseconds every);

    void start() { plan(); }
    /// No look begins any more. From any thread.
    void stop() { alarm_.stop(); }

private:
    void plan();
    void look();

    const std::weak_ptr<broker_core> broker_;
    const milliseconds every_;
    alarm alarm_;
};

}  // namespace shove::detail
