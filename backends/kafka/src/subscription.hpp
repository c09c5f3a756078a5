#pragma once

#include <shove/spi/driver.hpp>

#include <memory>
#include <vector>

#include "loop.hpp"
#include "member.hpp"
#include "receiver.hpp"

namespace shove::kafka_backend {

/// The port's subscription: one receiver of a group member. All it does, it has the member's loop do.
class subscription final : public spi::subscription {
public:
    subscription(std::shared_ptr<loop> on, std::shared_ptr<member> from, std::shared_ptr<receiver> who);
    ~subscription() override;

    void receive(std::size_t max, spi::callback<void(result<std::vector<spi::delivery>>)> done) override;
    void cancel_receive() override;
    void settle(std::vector<spi::settlement> batch,
                spi::callback<void(std::vector<spi::failed_settlement>)> done) override;
    void extend(std::vector<std::uint64_t> tags, spi::callback<void(std::vector<std::uint64_t> lost)> done) override;
    void isolate(std::uint64_t tag, spi::callback<void(error)> done) override;
    void close(spi::callback<void(error)> done) override;

private:
    const std::shared_ptr<loop> loop_;
    const std::shared_ptr<member> member_;
    const std::shared_ptr<receiver> who_;
};

}  // namespace shove::kafka_backend
