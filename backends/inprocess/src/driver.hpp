#pragma once

#include "admin.hpp"
#include "core.hpp"

#include <memory>

namespace shove::in_memory {

/// The driver: finds the queue and passes the call on.
class driver final : public spi::driver {
public:
    driver(const inprocess::config& settings, std::shared_ptr<clock> time)
        : clock_(std::move(time)), core_(std::make_shared<core>(settings, *clock_)), admin_(*core_) {}
    ~driver() override { core_->close(); }

    const spi::capabilities& capabilities() const noexcept override { return inprocess::capabilities; }
    void declare(std::shared_ptr<const queue_topology> topology, spi::callback<void(error)> done) override {
        done(core_->declare(*topology));
    }
    void publish(const queue_topology& topology, spi::publish_request request,
                 spi::callback<void(spi::publish_report)> done) override;
    void subscribe(spi::source from, spi::callback<void(result<std::shared_ptr<spi::subscription>>)> done) override;
    void depth(std::string queue, spi::callback<void(result<spi::queue_depth>)> done) override;
    void ping(steady_time deadline, spi::callback<void(error)> done) override;
    void close(steady_time deadline, spi::callback<void(error)> done) override;
    spi::admin* admin() noexcept override { return &admin_; }

private:
    const std::shared_ptr<clock> clock_;
    const std::shared_ptr<core> core_;
    in_memory::admin admin_;
};

}  // namespace shove::in_memory
