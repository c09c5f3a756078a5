#include "metrics_server.hpp"

#include "failure.hpp"

#ifdef SHOVE_HAS_PROMETHEUS
#include <shove/prometheus.hpp>
#endif

namespace shove::cli {

metrics_server serve_metrics(const std::string& address) {
    if (address.empty()) return {};
#ifdef SHOVE_HAS_PROMETHEUS
    metrics_server made;
    made.kept = std::make_shared<metrics>();
    try {
        made.exporter = std::make_shared<prometheus_exporter>(made.kept, prometheus_options{.address = address});
    } catch (const exception& e) {
        if (!(e.cause() == errc::invalid_argument)) throw;
        throw usage_failure("--metrics: " + e.cause().message());
    }
    return made;
#else
    throw usage_failure("--metrics: this command was built without Prometheus; build with SHOVE_WITH_PROMETHEUS");
#endif
}

}  // namespace shove::cli
