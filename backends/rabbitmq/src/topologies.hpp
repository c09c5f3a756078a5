#pragma once

#include <shove/spi/driver.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "control.hpp"
#include "layout.hpp"
#include "outlet.hpp"

namespace shove::rabbitmq_backend {

/// What was declared through this broker, and the ways to publish to it.
/// @par Thread safety  Safe.
class topologies : public std::enable_shared_from_this<topologies> {
public:
    using found = spi::callback<void(result<std::shared_ptr<const route>>)>;

    topologies(std::shared_ptr<const rabbitmq::config> settings, std::shared_ptr<control> over)
        : settings_(std::move(settings)), control_(std::move(over)) {}

    void declare(std::shared_ptr<const queue_topology> topology, spi::callback<void(error)> done);
    /// Makes again what was declared here and holds that queue, if there is such. Tells nobody.
    void repair(const std::string& queue);
    /// The way to a topology's publishing place. At once where it is known; else the server is asked what there is: a
    /// queue that another library has made is published to by the default exchange.
    void way_to(const queue_topology& topology, steady_time deadline, found done);
    /// A message came back: nothing is known of that way any more.
    void forget_way(const queue_topology& topology);
    /// The topology that was declared here and has that queue as a place, as its dead-letter queue or, of a broadcast,
    /// as its name; null: none.
    std::shared_ptr<const queue_topology> find(const std::string& queue) const;

private:
    struct known_way {
        std::shared_ptr<const route> way;
        steady_time until = steady_time::max();
    };
    void run(ask_channel& over, const queue_topology& topology) const;
    std::shared_ptr<const route> ask_way(ask_channel& over, const queue_topology& topology);
    std::shared_ptr<const route> store_way(const queue_topology& topology, bool by_exchange);

    const std::shared_ptr<const rabbitmq::config> settings_;
    const std::shared_ptr<control> control_;
    mutable std::mutex mutex_;
    std::map<std::string, std::shared_ptr<const queue_topology>> declared_;  ///< By each place.
    std::map<std::string, known_way> ways_;                                  ///< By queue, or a broadcast's exchange.
};

}  // namespace shove::rabbitmq_backend
