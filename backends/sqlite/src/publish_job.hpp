#pragma once

#include "job.hpp"

#include <shove/spi/driver.hpp>

#include <string>

namespace shove::sqlite_backend {

/// Appends messages to a queue's log, and to those of the queues that it feeds; of a broadcast to the latter only.
class publish_job final : public job {
public:
    publish_job(std::string queue, spi::publish_request request, spi::callback<void(spi::publish_report)> done,
                bool broadcast = false);

    void apply(workplace& at) override;
    void finish(workplace& at, const error& cause, bool maybe) override;
    void refuse(const error& cause) override;
    std::size_t messages() const noexcept override { return request_.messages.size(); }
    std::size_t bytes() const noexcept override { return bytes_; }
    steady_time deadline() const noexcept { return request_.deadline; }

private:
    void append(workplace& at, queue_state& queue, const spi::outgoing& what);
    spi::publish_report report(spi::publish_status status, const error& cause) const;

    std::string queue_;
    bool broadcast_;
    spi::publish_request request_;
    spi::callback<void(spi::publish_report)> done_;
    std::size_t bytes_ = 0;
    std::vector<bool> too_large_;  ///< Empty: none is.
};

}  // namespace shove::sqlite_backend
