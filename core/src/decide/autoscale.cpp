#include "autoscale.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace shove::decide {
namespace {

using action = scale_decision::action;

/// "2", "0.5", "1.25".
std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

/// "0.0025 s", "7.33 s", "300 s".
std::string seconds(std::chrono::nanoseconds time) {
    char text[32];
    const auto value = std::chrono::duration<double>(time).count();
    std::snprintf(text, sizeof text, value < 100 ? "%.3g s" : "%.0f s", value);
    return text;
}

std::string count(std::uint64_t n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

/// "backlog 57 (50 ready + 7 in flight)"
std::string backlog_text(const scale_snapshot& now) {
    return "backlog " + std::to_string(now.backlog()) + " (" + std::to_string(now.ready) + " ready + " +
           std::to_string(now.in_flight) + " in flight)";
}

/// "2 × the capacity of 40"
std::string capacity_text(const scale_snapshot& now, double times) {
    return number(times) + " × the capacity of " + number(now.capacity()) + " (" + count(now.consumers, "consumer") +
           " × prefetch " + std::to_string(now.prefetch) + ")";
}

/// Consumers needed to work off the backlog within a time, at least 1.
std::uint32_t needed(const scale_snapshot& now, std::chrono::duration<double> within) {
    const auto work = static_cast<double>(now.backlog()) * std::chrono::duration<double>(*now.service_time).count();
    const auto each = within.count() * static_cast<double>(std::max<std::size_t>(now.calls_at_once, 1));
    const auto exact = std::ceil(work / each);
    constexpr auto most = static_cast<double>(std::numeric_limits<std::uint32_t>::max());
    return static_cast<std::uint32_t>(std::clamp(exact, 1.0, most));
}

}  // namespace

scale_decision by_threshold(const scale_snapshot& now, double up, double down) {
    const auto backlog = static_cast<double>(now.backlog());
    if (now.consumers == 0) {
        if (now.backlog() == 0) return scale_decision::hold("no consumer and no backlog");
        return scale_decision::up(1, backlog_text(now) + " and no consumer");
    }
    if (backlog > now.capacity() * up) {
        return scale_decision::up(1, backlog_text(now) + " is over " + capacity_text(now, up));
    }
    if (backlog < now.capacity() * down) {
        const auto rest = static_cast<double>(now.consumers - 1) * static_cast<double>(now.prefetch);
        if (now.consumers > 1 && backlog > rest * up) {
            return scale_decision::hold(backlog_text(now) + " is under " + capacity_text(now, down) +
                                        ", but too much for one consumer fewer");
        }
        return scale_decision::down(1, backlog_text(now) + " is under " + capacity_text(now, down));
    }
    return scale_decision::hold(backlog_text(now) + " suits the capacity of " + number(now.capacity()));
}

scale_decision by_drain_time(const scale_snapshot& now, milliseconds target) {
    if (!now.service_time || now.consumers == 0) return by_threshold(now, 2.0, 0.5);
    const auto why = [&](std::uint32_t consumers, std::chrono::nanoseconds within) {
        return backlog_text(now) + " at " + seconds(*now.service_time) + " a call takes " +
               count(consumers, "consumer") + " to drain within " + seconds(within);
    };
    if (const auto wanted = needed(now, target); wanted > now.consumers) {
        return scale_decision::up(wanted - now.consumers, why(wanted, target));
    }
    const auto half = std::chrono::nanoseconds(target) / 2;
    if (const auto enough = needed(now, half); enough < now.consumers) {
        return scale_decision::down(now.consumers - enough, why(enough, half));
    }
    return scale_decision::hold(why(now.consumers, target));
}

scale_decision scale_governor::within_bounds(const scale_snapshot& seen, scale_decision wish) const {
    if (wish.what == action::up) {
        if (seen.consumers >= seen.max) {
            return scale_decision::hold("at the maximum of " + count(seen.max, "consumer") + "; " + wish.reason);
        }
        wish.by = std::clamp<std::uint32_t>(wish.by, 1, seen.max - seen.consumers);
    } else if (wish.what == action::down) {
        if (seen.consumers <= seen.min) {
            return scale_decision::hold("at the minimum of " + count(seen.min, "consumer") + "; " + wish.reason);
        }
        wish.by = std::clamp<std::uint32_t>(wish.by, 1, seen.consumers - seen.min);
    }
    return wish;
}

scale_decision scale_governor::judge(const scale_snapshot& seen, scale_decision wish, steady_time now) {
    wish = within_bounds(seen, std::move(wish));
    if (wish.what == action::hold) {
        wish.by = 0;
        blind();
        return wish;
    }
    if (!wanted_since_ || wanted_ != wish.what) {
        wanted_ = wish.what;
        wanted_since_ = now;
    }
    // Also while cooling down the wish's time runs, so that what lasted is followed at its end.
    if (last_change_ && now - *last_change_ < cooldown_) {
        return scale_decision::hold("cooling down for " + seconds(*last_change_ + cooldown_ - now) + " more; " +
                                    wish.reason);
    }
    if (now - *wanted_since_ < hysteresis_) {
        return scale_decision::hold("waiting whether it lasts for " + seconds(*wanted_since_ + hysteresis_ - now) +
                                    " more; " + wish.reason);
    }
    if (wish.what == action::down) {
        const auto idle = seen.consumers - std::min(seen.busy, seen.consumers);
        if (idle == 0) return scale_decision::hold("every consumer is busy; " + wish.reason);
        wish.by = std::min(wish.by, idle);
    }
    return wish;
}

void scale_governor::changed(steady_time now) noexcept {
    last_change_ = now;
    blind();
}

}  // namespace shove::decide
