#pragma once

#include "tap.hpp"

#include <memory>
#include <string>
#include <vector>

namespace shove::in_memory {

using failures = std::vector<spi::failed_settlement>;
using settle_done = spi::callback<void(failures)>;

/// One consumer's hold on one queue. Closing it ends a waiting receive; deliveries that are not
/// settled by then stay in flight and may still be settled.
class subscription final : public spi::subscription, public std::enable_shared_from_this<subscription> {
public:
    /// How long a dead letter waits for room in its queue, before the engine gets it back for a later try.
    static constexpr milliseconds dead_letter_patience{100};

    /// @param own  Of a broadcast: what `source` belongs to.
    subscription(std::shared_ptr<clock> time, std::shared_ptr<core> shared, queue& source, spi::source from,
                 std::shared_ptr<tap> own = nullptr);
    ~subscription() override { queue_.detach(receiver_); }

    /// False: the driver is closed.
    bool attach() { return queue_.attach(receiver_); }

    void receive(std::size_t max, receive_done done) override { queue_.receive(receiver_, max, std::move(done)); }
    void cancel_receive() override { queue_.cancel(receiver_); }
    void settle(std::vector<spi::settlement> batch, settle_done done) override;
    void close(spi::callback<void(error)> done) override;

private:
    std::vector<spi::settlement> split_dead_letters(std::vector<spi::settlement>& batch) const;
    /// Stores dead letters in their queue, and only then lets the originals go.
    void bury(std::vector<spi::settlement> dead, failures failed, settle_done done);
    failures buried(std::vector<spi::settlement> dead, store_batch rest, std::size_t bytes, error cause);

    const std::shared_ptr<clock> clock_;
    const std::shared_ptr<core> core_;
    const std::shared_ptr<tap> own_;
    queue& queue_;
    const spi::source from_;
    receiver receiver_;
};

}  // namespace shove::in_memory
