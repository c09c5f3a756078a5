#pragma once

#include <shove/spi/driver.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "cluster.hpp"
#include "control.hpp"
#include "names.hpp"

namespace shove::kafka_backend {

/// Makes what topologies need on the cluster, and remembers those that were declared here.
/// @par Thread safety  Safe.
class topologies {
public:
    explicit topologies(std::shared_ptr<control> asking);

    void declare(std::shared_ptr<const queue_topology> topology, spi::callback<void(error)> done);
    /// A topology declared here of which this is the queue, the reader's, a shard's or the dead-letter queue.
    std::shared_ptr<const queue_topology> find(const std::string& queue) const;

private:
    error make(const cluster& on, const queue_topology& topology) const;
    error verify(const cluster& on, const queue_topology& topology) const;
    error reconcile(const cluster& on, const queue_topology& topology, const new_topic& wanted, bool waits) const;
    /// A group that reads from now on, until it commits by itself.
    error begin_reader(const cluster& on, const queue_topology& topology) const;

    const std::shared_ptr<control> asking_;
    const names names_;
    mutable std::mutex mutex_;
    std::map<std::string, std::shared_ptr<const queue_topology>> known_;  ///< By each of their queues.
};

}  // namespace shove::kafka_backend
