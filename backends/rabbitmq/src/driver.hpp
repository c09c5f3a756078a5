#pragma once

#include <shove/spi/driver.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "subscription.hpp"
#include "topologies.hpp"

namespace shove::rabbitmq_backend {

/// The port over a RabbitMQ server: a connection for questions, one for publishing, and as many for consumers as they need.
class driver final : public spi::driver {
public:
    driver(std::shared_ptr<const rabbitmq::config> settings, std::shared_ptr<shove::clock> time);
    ~driver() override;

    const spi::capabilities& capabilities() const noexcept override { return capabilities_; }
    void declare(std::shared_ptr<const queue_topology> topology, spi::callback<void(error)> done) override;
    void publish(const queue_topology& topology, spi::publish_request request,
                 spi::callback<void(spi::publish_report)> done) override;
    void subscribe(spi::source from, spi::callback<void(result<std::shared_ptr<spi::subscription>>)> done) override;
    void depth(std::string queue, spi::callback<void(result<spi::queue_depth>)> done) override;
    void ping(steady_time deadline, spi::callback<void(error)> done) override;
    void describe(spi::callback<void(result<spi::description>)> done) override;
    void close(steady_time deadline, spi::callback<void(error)> done) override;

private:
    consumer_plan plan_for(const spi::source& from, const std::string& queue);
    /// A connection with room for one more consumer.
    std::shared_ptr<intake> intake_with_room();
    std::vector<std::string> waiting_queues(const std::string& queue, const queue_topology* topology) const;
    std::size_t unsettled_in(const std::string& queue) const;

    const std::shared_ptr<const rabbitmq::config> settings_;
    const std::shared_ptr<shove::clock> clock_;
    const spi::capabilities capabilities_;
    const std::string process_;
    shared_parts shared_;
    std::shared_ptr<topologies> known_;
    mutable std::mutex mutex_;  ///< Guards all below.
    bool closed_ = false;
    std::vector<std::shared_ptr<intake>> intakes_;
    std::map<std::string, std::shared_ptr<lost_and_found>> lost_;  ///< By queue.
    std::vector<std::weak_ptr<consumer>> consumers_;
    std::thread closing_;
};

}  // namespace shove::rabbitmq_backend
