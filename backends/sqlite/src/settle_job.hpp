#pragma once

#include "attendance.hpp"
#include "job.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace shove::sqlite_backend {

/// Carries the engine's decisions about deliveries out. A delivery whose lease was taken away is
/// reported as lost; all others of the batch are carried out in one transaction.
class settle_job final : public job {
public:
    settle_job(std::shared_ptr<reader> who, std::string dead_letter_queue, std::vector<spi::settlement> batch,
               spi::callback<void(std::vector<spi::failed_settlement>)> done);

    void apply(workplace& at) override;
    void finish(workplace& at, const error& cause, bool maybe) override;
    void refuse(const error& cause) override;
    /// What is done with a message of a broadcast is forgotten with the subscription.
    bool durable() const noexcept override { return !who_->own; }

private:
    error settle(workplace& at, const spi::settlement& one);
    void carry_out(workplace& at, queue_state& queue, const spi::settlement& one, const held_lease& held);
    void bury(workplace& at, const queue_state& queue, const spi::settlement& one, const held_lease& held);
    error lease_lost() const;

    std::shared_ptr<reader> who_;
    std::string dead_letter_queue_;
    std::vector<spi::settlement> batch_;
    std::vector<std::pair<std::size_t, error>> refused_;  ///< By place in the batch.
    spi::callback<void(std::vector<spi::failed_settlement>)> done_;
};

}  // namespace shove::sqlite_backend
