#pragma once

#include <shove/metrics.hpp>

#include <memory>
#include <string>

namespace shove::cli {

/// Measurements that are served while a command runs.
struct metrics_server {
    std::shared_ptr<metrics> kept;   ///< For `broker_options::metrics`; null: none were asked for.
    std::shared_ptr<void> exporter;  ///< Serves them as long as it lives.
};

/// Serves measurements to Prometheus at `host:port`; nothing for an empty address. Throws `usage_failure` for an
/// address that means nothing, or where this command was built without Prometheus, and `exception` where it cannot be
/// bound.
metrics_server serve_metrics(const std::string& address);

}  // namespace shove::cli
