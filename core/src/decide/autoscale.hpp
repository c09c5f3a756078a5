#pragma once

#include <shove/autoscaler.hpp>
#include <shove/clock.hpp>

#include <optional>

namespace shove::decide {

/// One consumer more or fewer by the backlog's share of the capacity. See `threshold_strategy`.
scale_decision by_threshold(const scale_snapshot& now, double up, double down);

/// As many consumers as drain the backlog within `target`. See `drain_time_strategy`.
scale_decision by_drain_time(const scale_snapshot& now, milliseconds target);

/// Makes a strategy's wishes calm (G11). A wish is followed once it has lasted for the hysteresis, at
/// most once per cooldown, within min and max, and down only by consumers that are idle.
class scale_governor {
public:
    scale_governor(milliseconds hysteresis, milliseconds cooldown) noexcept
        : hysteresis_(hysteresis), cooldown_(cooldown) {}

    /// What may be done now about a wish.
    scale_decision judge(const scale_snapshot& seen, scale_decision wish, steady_time now);
    /// To be told when a decision was carried out, at least in part: the cooldown begins. One that
    /// was refused costs nothing.
    void changed(steady_time now) noexcept;
    /// To be told when nothing could be seen: a wish must last for the whole hysteresis afterwards.
    void blind() noexcept { wanted_since_.reset(); }

private:
    scale_decision within_bounds(const scale_snapshot& seen, scale_decision wish) const;

    const milliseconds hysteresis_;
    const milliseconds cooldown_;
    scale_decision::action wanted_ = scale_decision::action::hold;
    std::optional<steady_time> wanted_since_;
    std::optional<steady_time> last_change_;
};

}  // namespace shove::decide
