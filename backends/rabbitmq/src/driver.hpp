#pragma once

#include <shove/spi/driver.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "admin.hpp"
#include "census.hpp"
#include "management_desk.hpp"
#include "measure.hpp"
#include "subscription.hpp"
#include "topologies.hpp"

namespace shove::rabbitmq_backend {

/// The port over a RabbitMQ server: a connection for questions, one for publishing, and as many for consumers as they
/// need.
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
    spi::admin* admin() noexcept override { return admin_.get(); }

private:
    void begin_consumer(const spi::source& from, const std::string& queue,
                        spi::callback<void(result<std::shared_ptr<spi::subscription>>)> done);
    consumer_plan plan_for(const spi::source& from, const std::string& queue);
    /// A connection with room for one more consumer.
    std::shared_ptr<intake> intake_with_room();
    /// Where messages wait for a queue: what this process knows, and what is in the list.
    std::vector<std::string> waiting_queues(const std::string& queue, const queue_topology* topology,
                                            const queue_list& all) const;
    own_share share_of(const std::string& queue) const;
    /// @param again  It was found empty a moment ago.
    void count(const std::string& queue, queue_list all, spi::callback<void(result<spi::queue_depth>)> done,
               bool again = false);
    void describe_management(spi::description told, spi::callback<void(result<spi::description>)> done);

    const std::shared_ptr<const rabbitmq::config> settings_;
    const std::shared_ptr<shove::clock> clock_;
    const spi::capabilities capabilities_;
    const std::string process_;
    shared_parts shared_;
    std::shared_ptr<topologies> known_;
    std::shared_ptr<management_desk> desk_;  ///< Null, as are the next two: no management API is configured.
    std::shared_ptr<census> queues_;
    std::unique_ptr<rabbitmq_backend::admin> admin_;
    mutable std::mutex mutex_;  ///< Guards all below.
    bool closed_ = false;
    std::vector<std::shared_ptr<intake>> intakes_;
    std::map<std::string, std::shared_ptr<lost_and_found>> lost_;  ///< By queue.
    std::vector<std::weak_ptr<consumer>> consumers_;
    std::thread closing_;
};

}  // namespace shove::rabbitmq_backend
