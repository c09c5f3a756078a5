#pragma once

#include "store.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace shove::sqlite_backend {

/// What the driver must know of a delivery that it has handed out.
struct held_lease {
    std::uint64_t tag = 0;
    parked_message what;
    bool has_history = false;
};

/// Deliveries taken in one transaction; they exist once it is committed.
struct claimed {
    std::vector<spi::delivery> deliveries;
    std::vector<held_lease> leases;
};

/// Hands messages out: first what waits again, in queue order, then the next of the log.
class claims {
public:
    explicit claims(store& file);

    /// Takes at most `max` messages for this driver. Nothing, with the failure in the store's
    /// database, if reading or writing failed.
    /// @param fence  Of a shard, whose keys may be poisoned.
    claimed take(queue_state& queue, std::size_t max, std::optional<std::int64_t> fence = {});
    /// How many could be taken now, counted up to `enough`. Reads only.
    std::int64_t available(queue_state& queue, std::int64_t enough);

    /// A claim stops after this many bytes of payload; it always takes one message.
    static constexpr std::size_t max_bytes = 16 * 1024 * 1024;

private:
    struct row_facts {
        std::uint32_t deliveries = 0;
        bool maybe_handled = false;
    };
    void take_parked(queue_state& queue, std::size_t max, claimed& into);
    void take_from_log(queue_state& queue, std::size_t max, claimed& into);
    bool keep(const queue_state& queue, const statement::rows& row, row_facts facts, claimed& into);
    void lease(const queue_state& queue, const held_lease& what);
    /// Moves the cursor past `started` messages and the gaps among them.
    void advance(queue_state& queue, std::int64_t to, std::size_t started);

    store* file_;
    std::size_t bytes_ = 0;
    std::optional<std::int64_t> fence_;
    bool some_poisoned_ = false;
    statement parked_;
    statement log_;
    statement log_with_gaps_;
};

}  // namespace shove::sqlite_backend
