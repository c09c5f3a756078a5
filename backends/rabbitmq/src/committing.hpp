#pragma once

#include <shove/detail/settlement_fates.hpp>

#include <shove/spi/driver.hpp>

#include <memory>
#include <vector>

#include "subscription.hpp"
#include "transaction.hpp"

namespace shove::rabbitmq_backend {

/// Carries out the settlements of one batch in transactions of the consumer's channel: a copy is stored and its
/// original goes in one step. What no transaction can do, and what has an unknown fate, is left to `copying`. Lives
/// until the last settlement has its fate.
class committing final : public transaction_user, public std::enable_shared_from_this<committing> {
public:
    using finished = detail::settlement_fates::finished;

    /// @param batch  Not empty.
    committing(shared_parts shared, std::shared_ptr<const copy_routes> routes, std::shared_ptr<consumer> who,
               std::vector<spi::settlement> batch, finished done);
    void start();

    std::span<const parcel> copies(std::size_t index) const override;
    void committed(std::size_t index) override;
    void left_out(std::size_t index) override { store_first({index}); }
    void uncertain(std::size_t index) override;

private:
    using indices = std::vector<std::size_t>;

    void complete(std::size_t index);
    void copy(std::size_t index, const std::shared_ptr<const route>& way);
    void copy_to_delay_queue(std::size_t index);
    void release(const indices& which);
    /// The way without transactions.
    void store_first(const indices& which);
    void too_late(std::size_t index);
    void fail(std::size_t index, const error& cause);

    const shared_parts shared_;
    const std::shared_ptr<const copy_routes> routes_;
    const std::shared_ptr<consumer> who_;
    std::vector<spi::settlement> batch_;        ///< Fixed in number and place.
    std::vector<std::vector<parcel>> parcels_;  ///< By index; empty: there are no copies at all.
    const copy_marks marks_;
    detail::settlement_fates fates_;
};

}  // namespace shove::rabbitmq_backend
