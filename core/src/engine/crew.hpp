#pragma once

#include <shove/consumer_group.hpp>
#include <shove/run_outcome.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "consumer.hpp"
#include "timed_handler.hpp"

namespace shove::detail {

/// The consumers of one registration: those that work, and those that were told to end and still drain. What
/// has ended leaves its counts behind. Thread-safe.
class crew {
public:
    using consumers = std::vector<std::shared_ptr<consumer>>;

    /// @param plan     Without handler and name: each consumer gets its own.
    /// @param changed  Called without a lock, from any thread, when one of them has subscribed or ended.
    crew(std::shared_ptr<broker_core> broker, consumer_plan plan, handler_factory make, std::function<void()> changed);

    const consumer_plan& plan() const noexcept { return plan_; }
    /// Handler calls that one consumer makes at most at a time; of a plain handler: no more than there are threads.
    std::size_t calls_at_once() const;
    /// Has calls measured from now on.
    void measure(std::shared_ptr<service_meter> meter) { meter_ = std::move(meter); }
    /// Has each of them, those to come too, make at most so many calls at once.
    void limit_calls(std::size_t most);

    /// Makes consumers for the caller to start; none once the drain has begun. One call at a time. Throws what
    /// the factory throws; then none was made.
    consumers hire(std::uint32_t n);
    /// Makes and starts consumers; gives how many. What the factory throws is logged.
    std::uint32_t engage(std::uint32_t n);
    /// Tells up to `n` idle consumers to end, the youngest first; gives how many. Lowers the target by as many.
    std::uint32_t retire(std::uint32_t n);
    /// Tells all to end, and hires no more.
    void begin_drain();
    /// How many there should be.
    std::uint32_t target() const;
    void raise_target(std::uint32_t by);
    /// Counts consumers that took a dead one's place.
    void count_respawned(std::uint32_t n);

    /// Forgets those that have ended, keeps their counts; gives them, to be destroyed where it suits.
    consumers sweep();
    /// Whether `sweep` would find some.
    bool someone_ended() const;

    struct headcount {
        std::uint32_t live = 0;     ///< Neither ended nor told to.
        std::uint32_t busy = 0;     ///< Of these, those that hold a message.
        std::uint64_t held = 0;     ///< Messages that all hold, those that drain too.
        std::uint64_t running = 0;  ///< Calls that run.
    };
    headcount count() const;
    bool draining() const;
    bool subscribed() const;
    bool finished() const;
    /// Why one of them could never subscribe.
    std::optional<error> refusal() const;
    void add_stats(consumer_stats& to) const;
    void report_stuck(std::vector<stuck_call>& to) const;
    /// When one of them was given a message last, or began.
    steady_time last_received() const;
    /// Adds how they ended, and what is left of those that have not.
    void report(run_outcome& outcome) const;

private:
    std::shared_ptr<consumer> make_one();
    template <class F>
    void each(F&& action) const;

    const std::shared_ptr<broker_core> broker_;
    const consumer_plan plan_;
    handler_factory make_;
    const std::function<void()> changed_;
    std::shared_ptr<service_meter> meter_;
    std::size_t next_name_ = 0;

    mutable std::mutex mutex_;
    bool coroutine_ = false;
    bool draining_ = false;
    std::uint32_t target_;
    std::optional<std::size_t> call_limit_;
    consumers working_;
    consumers leaving_;
    consumer_stats gone_;  ///< Counts of those that were swept.
    run_outcome ends_;     ///< How they ended.
};

}  // namespace shove::detail
