#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace shove {

enum class outcome_kind : std::uint8_t {
    ack,     ///< Done.
    retry,   ///< Failed for now: again after the next hold delay; counts against `max_retries`.
    reject,  ///< Failed for good: to the dead-letter queue.
    defer,   ///< Not now: again after the first hold delay, at no cost.
};

/// What a handler answers. Write `shove::ack`, `shove::retry`, `shove::reject`, `shove::defer`; with
/// a reason for the dead letter's record `shove::reject("no such customer")`; with a delay of the
/// handler's own `shove::retry_after(10s)`.
class outcome {
public:
    explicit outcome(outcome_kind kind) noexcept : kind_(kind) {}

    /// The same outcome with a reason: kept as the message's last error, cut at 2,048 bytes.
    outcome operator()(std::string reason) const {
        auto copy = *this;
        copy.reason_ = std::move(reason);
        return copy;
    }

    outcome_kind kind() const noexcept { return kind_; }
    const std::string& reason() const noexcept { return reason_; }
    /// The delay of `retry_after`; without one the topology's hold tiers decide.
    std::optional<std::chrono::milliseconds> delay() const noexcept { return delay_; }

    friend outcome retry_after(std::chrono::milliseconds delay, std::string reason);
    friend bool operator==(const outcome&, const outcome&) = default;

private:
    outcome_kind kind_;
    std::optional<std::chrono::milliseconds> delay_;
    std::string reason_;
};

inline const outcome ack{outcome_kind::ack};
inline const outcome retry{outcome_kind::retry};
inline const outcome reject{outcome_kind::reject};
inline const outcome defer{outcome_kind::defer};

/// Retry after a delay of the handler's own choice (at least 0). Counts like `retry`. Where the
/// broker can only delay by its hold queues, the next longer tier is taken (else the longest).
inline outcome retry_after(std::chrono::milliseconds delay, std::string reason = {}) {
    outcome made{outcome_kind::retry};
    made.delay_ = delay < std::chrono::milliseconds(0) ? std::chrono::milliseconds(0) : delay;
    made.reason_ = std::move(reason);
    return made;
}

}  // namespace shove
