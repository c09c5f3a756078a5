#pragma once

#include <shove/kafka.hpp>
#include <shove/spi/driver.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "admin.hpp"
#include "desk.hpp"
#include "member.hpp"
#include "names.hpp"
#include "outlet.hpp"
#include "parts.hpp"
#include "topologies.hpp"

namespace shove::kafka_backend {

/// The port over a Kafka cluster: one producer, one client for questions, and one consumer for each place that is read.
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
    spi::admin* admin() noexcept override { return admin_.get(); }

private:
    using topology_ptr = std::shared_ptr<const queue_topology>;
    using subscribed = spi::callback<void(result<std::shared_ptr<spi::subscription>>)>;
    /// With the names that the cluster knows.
    topology_ptr prefixed(const queue_topology& of) const;
    void remember(const topology_ptr& topology);
    void send(const std::shared_ptr<const std::string>& topic, spi::publish_request request,
              spi::callback<void(spi::publish_report)> done);
    member_parts parts();
    member_plan plan_of(const queue_topology& given, bool dead) const;
    void join(const spi::source& from, const topology_ptr& topology, subscribed done);
    void listen(const spi::source& from, const topology_ptr& topology, subscribed done);
    result<std::shared_ptr<spi::subscription>> listen_now(const spi::source& from, const queue_topology& topology);
    void look_again(const std::string& main);
    result<spi::queue_depth> count(const std::string& queue);
    std::unique_ptr<kafka_backend::admin> make_admin();

    shared_parts shared_;
    const names names_;
    std::unique_ptr<topologies> topologies_;
    std::shared_ptr<kafka_backend::desk> desk_;
    std::shared_ptr<outlet> publishing_;
    std::unique_ptr<kafka_backend::admin> admin_;

    // The loop's:
    std::map<std::pair<std::string, std::string>, std::shared_ptr<member>> members_;  ///< By group and main topic.
    std::vector<std::shared_ptr<member>> others_;  ///< Subscribers of broadcasts, and members that are leaving.
    std::uint64_t receivers_ = 0;

    struct counted_place {
        std::string topic;  ///< Main.
        std::string group;
        std::vector<std::string> waits;
        std::int32_t shard = -1;
        std::uint16_t shards = 0;
        bool dead = false;
        bool broadcast = false;
    };
    /// Of a queue that this process did not declare: as its name says.
    result<counted_place> place_of(const std::string& queue);

    std::mutex mutex_;  ///< Guards all below.
    std::map<std::string, counted_place> places_;
    /// Who waits for a count that has not begun, by queue.
    std::map<std::string, std::vector<spi::callback<void(result<spi::queue_depth>)>>> counting_;
    bool closed_ = false;
    std::thread closing_;
};

}  // namespace shove::kafka_backend
