#pragma once

#include <shove/spi/driver.hpp>

#include <memory>
#include <string>
#include <vector>

#include "consumer.hpp"
#include "delays.hpp"
#include "outlet.hpp"

namespace shove::rabbitmq_backend {

/// What subscriptions have in common.
struct shared_parts {
    std::shared_ptr<const rabbitmq::config> settings;
    std::shared_ptr<control> asking;
    std::shared_ptr<outlet> publishing;
    std::shared_ptr<delays> waiting;
};

/// The ways that copies of a topology's messages go.
struct copy_routes {
    std::vector<std::shared_ptr<const route>> holds;  ///< By tier.
    std::shared_ptr<const route> dead_letters;        ///< Null: none.
    std::string place;                                ///< The queue that is read.
};
copy_routes routes_of(const queue_topology& topology, std::string place);

/// The port's subscription over a consumer of a queue. A retry and a dead letter are copies: stored first, and only
/// then is the original acknowledged (G1); or, where that is asked for, both in one transaction.
class subscription final : public spi::subscription {
public:
    subscription(shared_parts shared, copy_routes routes, std::shared_ptr<consumer> who);
    ~subscription() override;

    void receive(std::size_t max, spi::callback<void(result<std::vector<spi::delivery>>)> done) override;
    void cancel_receive() override;
    void settle(std::vector<spi::settlement> batch,
                spi::callback<void(std::vector<spi::failed_settlement>)> done) override;
    void isolate(std::uint64_t tag, spi::callback<void(error)> done) override;
    void close(spi::callback<void(error)> done) override;

private:
    const shared_parts shared_;
    const std::shared_ptr<const copy_routes> routes_;
    const std::shared_ptr<consumer> who_;
};

}  // namespace shove::rabbitmq_backend
