#pragma once

#include <shove/spi/driver.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "subscription.hpp"
#include "topologies.hpp"

namespace shove::rabbitmq_backend {

/// The messages of one call of `publish`, under way. Lives until the last one has its fate.
class publish_batch : public std::enable_shared_from_this<publish_batch> {
public:
    publish_batch(shared_parts shared, std::shared_ptr<topologies> known, const queue_topology& topology,
                  spi::publish_request request, spi::callback<void(spi::publish_report)> done);
    void start();

private:
    using indices = std::vector<std::size_t>;

    /// Those that go at once, and those of each delay.
    void split(indices& now, std::map<milliseconds, indices>& later) const;
    void send_now(indices which);
    void send_later(milliseconds delay, indices which, bool again);
    void ship(indices which, const std::shared_ptr<const route>& way, milliseconds delay, bool again);
    void answered(const indices& which, std::vector<spi::publish_result> results);
    void refuse(const indices& which, const error& why);

    const shared_parts shared_;
    const std::shared_ptr<topologies> known_;
    const queue_topology topology_;
    const spi::publish_request request_;
    std::mutex mutex_;
    std::vector<spi::publish_result> results_;  ///< Guarded; empty: all stored so far.
    std::size_t left_;                          ///< Guarded.
    spi::callback<void(spi::publish_report)> done_;
};

}  // namespace shove::rabbitmq_backend
