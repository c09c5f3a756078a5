#pragma once

#include <shove/clock.hpp>

#include <algorithm>
#include <cstdint>

namespace shove::decide {

/// Waits between attempts at something that fails: doubling from `base` to `max`, each spread over its upper
/// half by a random number, so that many clients do not come back at once. `reset` after a success.
class backoff {
public:
    explicit backoff(milliseconds base = milliseconds(100), milliseconds max = milliseconds(10'000)) noexcept
        : base_(base), max_(max) {}

    /// @param random  Any evenly spread number.
    milliseconds next(std::uint64_t random) noexcept {
        const auto whole = std::min(max_, base_ * (std::int64_t{1} << std::min<std::uint32_t>(failures_, 20)));
        ++failures_;
        const auto half = whole.count() / 2;
        return milliseconds(whole.count() - half +
                            static_cast<std::int64_t>(random % static_cast<std::uint64_t>(half + 1)));
    }
    void reset() noexcept { failures_ = 0; }
    std::uint32_t failures() const noexcept { return failures_; }

private:
    milliseconds base_;
    milliseconds max_;
    std::uint32_t failures_ = 0;
};

}  // namespace shove::decide
