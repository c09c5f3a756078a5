#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace shove::kafka_backend {

/// Offsets from `first` on, so many in a row.
struct offset_run {
    std::int64_t first = 0;
    std::int64_t count = 0;

    std::int64_t end() const noexcept { return first + count; }
    friend bool operator==(const offset_run&, const offset_run&) = default;
};

/// What was received of one partition and is not settled. Pure; offsets may have gaps, which count as settled.
class offset_window {
public:
    /// @param position  The committed offset: all before it is settled.
    /// @param settled   What is settled above it, in order.
    offset_window(std::int64_t position, std::vector<offset_run> settled);

    /// Takes an offset in, which must be at `next` or above.
    /// @return  False: it is settled already. Do not hand it out.
    bool receive(std::int64_t offset);
    /// False: it is not in here, or is settled already.
    bool settle(std::int64_t offset);
    bool open(std::int64_t offset) const noexcept;

    /// What may be committed: the lowest offset that is not settled.
    std::int64_t position() const noexcept { return base_; }
    /// Behind the highest offset that was received.
    std::int64_t next() const noexcept { return base_ + static_cast<std::int64_t>(open_.size()); }
    std::size_t unsettled() const noexcept { return unsettled_; }
    /// What is settled above `position`, in order. At most `most` runs: those in front.
    std::vector<offset_run> settled(std::size_t most) const;

private:
    void advance();

    std::int64_t base_;
    std::deque<bool> open_;  ///< From `base_` on: whether it is not settled. The first one is, if there is one.
    std::size_t unsettled_ = 0;
    std::deque<offset_run> before_;  ///< Settled by an earlier owner, at `next` or above.
};

}  // namespace shove::kafka_backend
