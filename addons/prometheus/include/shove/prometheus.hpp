#pragma once

#include <shove/metrics.hpp>

#include <memory>
#include <string>

namespace shove {

struct prometheus_options {
    /// Where scrapes are answered, `host:port`; port 0: one that is free.
    std::string address = "127.0.0.1:9464";
    std::string path = "/metrics";
    /// In front of each name: `shove_messages_consumed_total`.
    std::string prefix = "shove";
    unsigned threads = 1;  ///< For scrapes at a time.
};

/// Serves a broker's measurements to Prometheus, over HTTP without authentication: bind it to an address that only your
/// monitoring reaches.
/// @par Thread safety  All members may be called from several threads.
/// @par Lifetime  Shares the metrics; may outlive the brokers that count there. The destructor ends the server.
class prometheus_exporter {
public:
    /// Throws `exception`: `invalid_argument` for the prefix or the address, `not_connected` where it cannot be bound.
    explicit prometheus_exporter(std::shared_ptr<const metrics> from, prometheus_options options = {});
    ~prometheus_exporter();
    prometheus_exporter(const prometheus_exporter&) = delete;
    prometheus_exporter& operator=(const prometheus_exporter&) = delete;

    /// The port that answers.
    int port() const;

private:
    class server;
    std::unique_ptr<server> server_;
};

/// The same as text, in Prometheus' exposition format 0.0.4: for those who have an HTTP server already.
/// Throws `exception` (`invalid_argument`) for the prefix.
std::string prometheus_text(const metrics& from, const std::string& prefix = "shove");

}  // namespace shove
