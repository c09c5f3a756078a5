#include "scaler.hpp"

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "broker_core.hpp"

namespace shove::detail {
namespace {

/// Adds up what waits in several queues; the first error counts for all.
void ready_of(spi::driver& driver, const std::vector<std::string>& queues,
              std::function<void(result<std::uint64_t>)> done) {
    struct gathering {
        std::mutex mutex;
        std::size_t missing;
        std::uint64_t ready = 0;
        std::optional<error> failure;
        std::function<void(result<std::uint64_t>)> done;
    };
    auto sum = std::make_shared<gathering>();
    sum->missing = queues.size();
    sum->done = std::move(done);
    for (const auto& queue : queues) {
        driver.depth(queue, [sum](result<spi::queue_depth> depth) {
            {
                const std::lock_guard lock(sum->mutex);
                if (depth) {
                    sum->ready += depth->ready;
                } else if (!sum->failure) {
                    sum->failure = depth.error();
                }
                if (--sum->missing > 0) return;
            }
            if (sum->failure) return sum->done(*sum->failure);
            sum->done(sum->ready);
        });
    }
}

}  // namespace

void check_scaling(const autoscaler_options& options) {
    const auto refuse = [](const std::string& name, milliseconds value, const char* rule) {
        throw exception(error(errc::invalid_argument, "the autoscaler's " + name + " is " +
                                                          std::to_string(value.count()) + " ms; it must " + rule));
    };
    if (options.poll.count() <= 0) refuse("poll", options.poll, "be positive");
    if (options.hysteresis.count() < 0) refuse("hysteresis", options.hysteresis, "not be negative");
    if (options.cooldown.count() < 0) refuse("cooldown", options.cooldown, "not be negative");
    if (!options.strategy) (void)threshold_strategy(options.up, options.down);  // throws where these are wrong
}

scaler::scaler(std::shared_ptr<broker_core> broker, autoscaler_options options)
    : broker_(std::move(broker)),
      options_(std::move(options)),
      strategy_(options_.strategy ? options_.strategy : threshold_strategy(options_.up, options_.down)),
      alarm_(broker_->clock()) {}

void scaler::watch(std::unique_ptr<scaled> what) {
    watched_.push_back({std::move(what), decide::scale_governor(options_.hysteresis, options_.cooldown)});
}

void scaler::start() {
    if (!watched_.empty()) plan_poll();
}

/// Asks for the next poll. One that is late is not followed by another at once.
void scaler::plan_poll() {
    alarm_.set(broker_->clock().now() + options_.poll, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->plan_poll();
        if (self->polling_.exchange(true)) return;
        self->broker_->supervising().post([weak, now = self->broker_->clock().now()] {
            if (auto same = weak.lock()) same->poll(now);
        });
    });
}

void scaler::poll(steady_time now) {
    polling_ = false;
    if (broker_->closed()) return;
    for (std::size_t i = 0; i < watched_.size(); ++i)
        ask(i, now);
}

void scaler::ask(std::size_t which, steady_time now) {
    auto& at = watched_[which];
    if (at.asking) {
        at.governor.blind();
        return report(
            {at.what->look(), scale_decision::hold("the depth of '" + at.what->queue() + "' has not been told yet")});
    }
    at.asking = true;
    ready_of(broker_->driver(), at.what->places(), [weak = weak_from_this(), which, now](result<std::uint64_t> ready) {
        const auto self = weak.lock();
        if (!self) return;
        self->broker_->supervising().post([weak, which, now, ready = std::move(ready)] {
            if (auto same = weak.lock()) same->answered(which, ready, now);
        });
    });
}

void scaler::answered(std::size_t which, const result<std::uint64_t>& ready, steady_time now) {
    auto& at = watched_[which];
    at.asking = false;
    if (at.what->draining()) return;
    auto seen = at.what->look();
    if (!ready) {
        at.governor.blind();
        const auto text = "the depth of '" + seen.queue + "' is not known: " + ready.error().message();
        if (!std::exchange(at.failing, true)) broker_->log(log_level::warning, text);
        return report({seen, scale_decision::hold(text)});
    }
    at.failing = false;
    seen.ready = *ready;
    if (const auto target = at.what->target(); seen.consumers < target) {
        at.governor.blind();
        at.what->look_soon();
        return report({seen, scale_decision::hold(std::to_string(seen.consumers) + " of " + std::to_string(target) +
                                                  " consumers run; the others are being replaced")});
    }
    const auto decision = at.governor.judge(seen, wish(seen), now);
    const auto changed = carry_out(*at.what, decision);
    // A factory that throws is not asked again at the next poll.
    if (changed > 0 || decision.what == scale_decision::action::up) at.governor.changed(now);
    report({seen, decision, changed});
}

/// What the strategy says. It may be the user's: an exception of it ends here.
scale_decision scaler::wish(const scale_snapshot& seen) const {
    try {
        return strategy_->decide(seen);
    } catch (const std::exception& e) {
        broker_->log(log_level::error, "the scaling strategy threw for '" + seen.queue + "': " + e.what());
        return scale_decision::hold(std::string("the strategy threw: ") + e.what());
    } catch (...) {
        broker_->log(log_level::error, "the scaling strategy threw for '" + seen.queue + "'");
        return scale_decision::hold("the strategy threw");
    }
}

/// Adds or takes away consumers; gives how many.
std::uint32_t scaler::carry_out(scaled& what, const scale_decision& decision) const {
    std::uint32_t changed = 0;
    const bool up = decision.what == scale_decision::action::up;
    if (up) changed = what.engage(decision.by);
    if (decision.what == scale_decision::action::down) changed = what.retire(decision.by);
    if (changed > 0) {
        broker_->log(log_level::info, "'" + what.queue() + "': " + std::to_string(changed) +
                                          (up ? " consumer(s) more, " : " consumer(s) fewer, ") +
                                          std::to_string(what.target()) + " in all: " + decision.reason);
    }
    return changed;
}

void scaler::report(scale_report what) const {
    if (!options_.on_decision) return;
    try {
        options_.on_decision(what);
    } catch (const std::exception& e) {
        broker_->log(log_level::error, std::string("on_decision of an autoscaler threw: ") + e.what());
    } catch (...) {
        broker_->log(log_level::error, "on_decision of an autoscaler threw");
    }
}

}  // namespace shove::detail
