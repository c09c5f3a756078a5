#pragma once

#include <shove/clock.hpp>
#include <shove/error.hpp>
#include <shove/spi/driver.hpp>

#include <memory>
#include <string>

#include "alarm.hpp"

namespace shove::detail {

class broker_core;

/// Looks at the depth of all queues that the groups of a broker consume, now and then, for the metrics. A queue whose
/// depth is not told keeps its last one.
class depth_sampler : public std::enable_shared_from_this<depth_sampler> {
public:
    depth_sampler(broker_core& broker, milliseconds every);

    void start() { plan(); }
    /// No look begins any more. From any thread.
    void stop() { alarm_.stop(); }

private:
    void plan();
    void look();
    void ask(const std::string& topic, const std::vector<std::string>& places, const std::string& dead_letters);

    broker_core& broker_;
    const milliseconds every_;
    alarm alarm_;
};

}  // namespace shove::detail
