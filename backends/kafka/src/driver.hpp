#pragma once

#include <shove/spi/driver.hpp>

#include <memory>
#include <mutex>
#include <thread>

#include "parts.hpp"
#include "topologies.hpp"

namespace shove::kafka_backend {

/// The port over a Kafka cluster.
class driver final : public spi::driver {
public:
    driver(std::shared_ptr<const kafka::config> settings, std::shared_ptr<shove::clock> time);
    ~driver() override;

    /// Makes what needs no connection. Once, before all else.
    error open();

    const spi::capabilities& capabilities() const noexcept override { return kafka::capabilities; }
    void declare(std::shared_ptr<const queue_topology> topology, spi::callback<void(error)> done) override;
    void publish(const queue_topology& topology, spi::publish_request request,
                 spi::callback<void(spi::publish_report)> done) override;
    void subscribe(spi::source from, spi::callback<void(result<std::shared_ptr<spi::subscription>>)> done) override;
    void depth(std::string queue, spi::callback<void(result<spi::queue_depth>)> done) override;
    void ping(steady_time deadline, spi::callback<void(error)> done) override;
    void describe(spi::callback<void(result<spi::description>)> done) override;
    void close(steady_time deadline, spi::callback<void(error)> done) override;

private:
    shared_parts shared_;
    std::unique_ptr<topologies> known_;
    std::mutex mutex_;  ///< Guards all below.
    bool closed_ = false;
    std::thread closing_;
};

}  // namespace shove::kafka_backend
