#include "scaler.hpp"

#include <string>
#include <utility>

#include "broker_core.hpp"
#include "depths.hpp"

namespace shove::detail {
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
    add_up_depths(broker_->driver(), at.what->places(), [weak = weak_from_this(), which, now](auto depth) {
        const auto self = weak.lock();
        if (!self) return;
        self->broker_->supervising().post([weak, which, now, depth = std::move(depth)] {
            if (auto same = weak.lock()) same->answered(which, depth, now);
        });
    });
}

void scaler::answered(std::size_t which, const result<spi::queue_depth>& depth, steady_time now) {
    auto& at = watched_[which];
    at.asking = false;
    if (at.what->draining()) return;
    auto seen = at.what->look();
    if (!depth) {
        at.governor.blind();
        const auto text = "the depth of '" + seen.queue + "' is not known: " + depth.error().message();
        if (!std::exchange(at.failing, true)) {
            broker_->tell(happening::scaling_depth_unknown, text,
                          {{"queue", seen.queue}, {"error", depth.error().message()}});
        }
        return report({seen, scale_decision::hold(text)});
    }
    at.failing = false;
    seen.ready = depth->ready;
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
        broker_->tell(happening::scaling_strategy_failed,
                      "the scaling strategy threw for '" + seen.queue + "': " + e.what(),
                      {{"queue", seen.queue}, {"error", e.what()}});
        return scale_decision::hold(std::string("the strategy threw: ") + e.what());
    } catch (...) {
        broker_->tell(happening::scaling_strategy_failed, "the scaling strategy threw for '" + seen.queue + "'",
                      {{"queue", seen.queue}, {"error", ""}});
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
        const auto change = up ? std::int64_t{changed} : -std::int64_t{changed};
        broker_->tell(happening::consumers_scaled,
                      "'" + what.queue() + "': " + std::to_string(changed) +
                          (up ? " consumer(s) more, " : " consumer(s) fewer, ") + std::to_string(what.target()) +
                          " in all: " + decision.reason,
                      {{"queue", what.queue()},
                       {"change", change},
                       {"consumers", std::int64_t{what.target()}},
                       {"reason", decision.reason}});
    }
    return changed;
}

/// Into the metrics.
void scaler::note(const scale_report& what) const {
    if (!broker_->board()) return;
    const auto meters = broker_->board()->scaling(what.seen.queue);
    meters->decisions[static_cast<std::size_t>(what.decision.what)].add();
    meters->ready.set(what.seen.ready);
    meters->in_flight.set(what.seen.in_flight);
    meters->consumers.set(what.seen.consumers);
}

void scaler::report(scale_report what) const {
    note(what);
    if (!options_.on_decision) return;
    try {
        options_.on_decision(what);
    } catch (const std::exception& e) {
        broker_->tell(happening::scaling_callback_failed,
                      std::string("on_decision of an autoscaler threw: ") + e.what(), {{"error", e.what()}});
    } catch (...) {
        broker_->tell(happening::scaling_callback_failed, "on_decision of an autoscaler threw", {{"error", ""}});
    }
}

}  // namespace shove::detail
