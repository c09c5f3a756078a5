#pragma once

#include <shove/detail/settlement_fates.hpp>

#include "handled_before.hpp"
#include "subscription.hpp"

namespace shove::rabbitmq_backend {

/// The copy that a retry or a dead letter is. It points into the settlement's history.
parcel copy_of(const spi::settlement& what, std::shared_ptr<const route> way, std::int64_t mark);
/// The way into the queue where a message waits for a delay that no hold queue has.
void wait_for_delay_queue(const shared_parts& shared, const copy_routes& routes, const spi::settlement& what,
                          delays::found done);
/// A delivery of that place is no longer this process's to settle.
error channel_lost_error(const std::string& place);

/// Carries out the settlements of one batch that need something stored first: a copy, or a note. Lives until the last
/// one has its fate.
class copying : public std::enable_shared_from_this<copying> {
public:
    using finished = detail::settlement_fates::finished;

    /// @param failed  What of the batch has failed already.
    copying(shared_parts shared, std::shared_ptr<const copy_routes> routes, std::shared_ptr<consumer> who,
            std::vector<spi::settlement> copies, std::vector<spi::failed_settlement> failed, finished done);
    void start();

private:
    /// Publishes these, by index, the way each goes.
    struct outbound {
        std::vector<std::size_t> which;
        std::vector<parcel> parcels;
        void add(std::size_t index, parcel copy);
    };
    parcel copy(std::size_t index, std::shared_ptr<const route> way) const;
    void publish(outbound what);
    void wait_in_delay_queue(std::size_t index);
    void keep(std::size_t index);
    void published(const std::vector<std::size_t>& which, const std::vector<spi::publish_result>& results);
    void publish_bare(std::size_t index);
    /// The copy is stored: lets the original go.
    void stored(spi::settlement& what);
    void fail(std::size_t index, const error& cause);

    const shared_parts shared_;
    const std::shared_ptr<const copy_routes> routes_;
    const std::shared_ptr<consumer> who_;
    std::vector<spi::settlement> copies_;  ///< Fixed in number and place.
    detail::settlement_fates fates_;
    const copy_marks marks_;
};

}  // namespace shove::rabbitmq_backend
