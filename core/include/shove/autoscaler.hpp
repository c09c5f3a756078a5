#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace shove {

/// What a strategy looks at: one registration of a group at one moment.
struct scale_snapshot {
    std::string queue;
    std::uint64_t ready = 0;      ///< Messages that wait in the queue.
    std::uint64_t in_flight = 0;  ///< Messages that these consumers hold unsettled.
    std::uint32_t consumers = 0;  ///< That run now.
    std::uint32_t busy = 0;       ///< Of these, those that hold a message; they are never stopped.
    std::uint32_t min = 1;        ///< Of `consumer_options::consumers`.
    std::uint32_t max = 1;
    std::size_t prefetch = 10;       ///< Messages that one consumer holds at most.
    std::size_t calls_at_once = 10;  ///< Handler calls that one consumer makes at most at a time.
    /// Mean time of a handler call, measured; nothing: none has ended yet.
    std::optional<std::chrono::nanoseconds> service_time;

    /// All work that is not done: what waits and what is in flight.
    std::uint64_t backlog() const noexcept { return ready + in_flight; }
    /// Messages that all consumers together hold at most.
    double capacity() const noexcept { return static_cast<double>(consumers) * static_cast<double>(prefetch); }
};

/// What to do about the number of consumers.
struct scale_decision {
    enum class action : std::uint8_t { hold, up, down };
    action what = action::hold;
    std::uint32_t by = 0;  ///< Consumers to add or to take away; 0 when holding.
    std::string reason;    ///< In words, for people.

    static scale_decision hold(std::string why) { return {action::hold, 0, std::move(why)}; }
    static scale_decision up(std::uint32_t by, std::string why) { return {action::up, by, std::move(why)}; }
    static scale_decision down(std::uint32_t by, std::string why) { return {action::down, by, std::move(why)}; }
    friend bool operator==(const scale_decision&, const scale_decision&) = default;
};

/// Says from what is seen now how many consumers there should be. Whether that happens now is not its matter:
/// the group waits until a wish has lasted (hysteresis), makes one change per cooldown, keeps to `min` and
/// `max`, and stops idle consumers only.
/// @par Thread safety  Called on the broker's supervising thread, one call at a time for all its groups.
/// @par Errors  What it throws is logged and counts as hold.
class scaling_strategy {
public:
    virtual ~scaling_strategy() = default;
    virtual scale_decision decide(const scale_snapshot& now) = 0;
};

/// One consumer more while the backlog is over `up` times the capacity (consumers × prefetch), one fewer while it
/// is under `down` times; equality holds. Never down where the rest would have to go up again.
/// Throws `exception` (`invalid_argument`) unless 0 < `down` < `up`, both finite.
std::shared_ptr<scaling_strategy> threshold_strategy(double up = 2.0, double down = 0.5);

/// As many consumers as it takes to be done with the backlog within `target`, by the measured service time;
/// fewer only where the rest would need no more than half of it. Until a call has been measured:
/// as `threshold_strategy()`.
/// Throws `exception` (`invalid_argument`) unless `target` is positive.
std::shared_ptr<scaling_strategy> drain_time_strategy(std::chrono::milliseconds target);

/// One look of the autoscaler at one registration, explained.
struct scale_report {
    scale_snapshot seen;
    scale_decision decision;    ///< What was decided, hysteresis, cooldown and bounds included.
    std::uint32_t changed = 0;  ///< Consumers that were added or told to end; may be fewer than decided.
};

/// How a group follows its load. See `consumer_group::enable_autoscaling`.
struct autoscaler_options {
    /// Time between two looks at a queue's depth; the first comes after one such time.
    std::chrono::milliseconds poll{5'000};
    /// Multipliers of the default strategy, `threshold_strategy`.
    double up = 2.0;
    double down = 0.5;
    /// How long a wish must last before it is followed.
    std::chrono::milliseconds hysteresis{10'000};
    /// Least time between two changes of one registration.
    std::chrono::milliseconds cooldown{30'000};
    /// Null: `threshold_strategy(up, down)`.
    std::shared_ptr<scaling_strategy> strategy{};
    /// Told of every look, also of those that change nothing and those that failed. Called on the broker's supervising
    /// thread; it must not wait for long. What it throws is logged.
    std::function<void(const scale_report&)> on_decision{};
};

}  // namespace shove
