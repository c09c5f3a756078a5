#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "../src/decide/autoscale.hpp"

namespace shove::decide {

using namespace std::chrono_literals;

/// A queue, its consumers and the autoscaler's decisions, second by second.
class scaling_simulation {
public:
    using wish = std::function<scale_decision(const scale_snapshot&)>;
    struct change {
        std::chrono::seconds at;
        int by;
    };

    std::chrono::seconds service{15};
    std::size_t prefetch = 10;
    std::uint32_t min = 1;
    std::uint32_t max = 8;
    std::chrono::seconds poll{5};
    milliseconds hysteresis{10s};
    milliseconds cooldown{30s};
    wish strategy = [](const scale_snapshot& now) { return by_threshold(now, 2.0, 0.5); };
    /// Whether the broker tells a depth.
    std::function<bool(std::chrono::seconds)> known = [](auto) { return true; };

    std::vector<change> changes;
    std::vector<scale_decision> decisions;
    std::uint32_t busy_stopped = 0;
    std::uint32_t least = 0;
    std::uint32_t most = 0;
    std::uint64_t ready = 0;

    /// @param arrivals  Messages that come in the given second.
    void run(std::chrono::seconds length, const std::function<std::uint64_t(std::chrono::seconds)>& arrivals) {
        if (consumers_.empty()) {
            consumers_.resize(min);
            least = most = min;
            governor_.emplace(hysteresis, cooldown);
        }
        for (const auto end = time_ + length; time_ < end; ++time_) {
            for (auto& calls : consumers_)
                std::erase_if(calls, [&](auto until) { return until <= time_; });
            ready += arrivals(time_);
            hand_out();
            if (time_ > 0s && time_ % poll == 0s) look();
        }
    }
    std::uint32_t consumers() const { return static_cast<std::uint32_t>(consumers_.size()); }
    std::uint64_t in_flight() const {
        std::uint64_t sum = 0;
        for (const auto& calls : consumers_)
            sum += calls.size();
        return sum;
    }
    /// How often a change goes the other way than the one before.
    int turns() const {
        int n = 0;
        for (std::size_t i = 1; i < changes.size(); ++i)
            n += (changes[i].by > 0) != (changes[i - 1].by > 0);
        return n;
    }
    std::chrono::seconds shortest_pause() const {
        auto shortest = std::chrono::seconds(std::chrono::hours(1'000'000));  // longer than any run
        for (std::size_t i = 1; i < changes.size(); ++i)
            shortest = std::min(shortest, changes[i].at - changes[i - 1].at);
        return shortest;
    }

private:
    void hand_out() {
        for (auto& calls : consumers_) {
            while (ready > 0 && calls.size() < prefetch) {
                calls.push_back(time_ + service);
                --ready;
            }
        }
    }

    void look() {
        const auto now = steady_time(time_);
        if (!known(time_)) return governor_->blind();
        scale_snapshot seen;
        seen.ready = ready;
        seen.in_flight = in_flight();
        seen.consumers = consumers();
        seen.busy = static_cast<std::uint32_t>(std::ranges::count_if(consumers_, [](auto& c) { return !c.empty(); }));
        seen.min = min;
        seen.max = max;
        seen.prefetch = prefetch;
        seen.calls_at_once = prefetch;
        seen.service_time = service;
        const auto decision = governor_->judge(seen, strategy(seen), now);
        decisions.push_back(decision);
        if (decision.what == scale_decision::action::hold) return;
        if (decision.what == scale_decision::action::up) {
            consumers_.resize(consumers_.size() + decision.by);
            changes.push_back({time_, static_cast<int>(decision.by)});
        } else {
            take_away(decision.by);
            changes.push_back({time_, -static_cast<int>(decision.by)});
        }
        governor_->changed(now);
        least = std::min(least, consumers());
        most = std::max(most, consumers());
    }

    void take_away(std::uint32_t n) {
        for (; n > 0; --n) {
            const auto idle = std::ranges::find_if(consumers_, [](auto& calls) { return calls.empty(); });
            if (idle == consumers_.end()) {
                busy_stopped += n;
                return;
            }
            consumers_.erase(idle);
        }
    }

    std::chrono::seconds time_{0};
    std::vector<std::vector<std::chrono::seconds>> consumers_;  ///< When each one's calls end.
    std::optional<scale_governor> governor_;
};

}  // namespace shove::decide
