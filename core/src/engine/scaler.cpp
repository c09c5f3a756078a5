#include "scaler.hpp"

#include <algorithm>

#include "broker_core.hpp"

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

void scaler::watch(const std::shared_ptr<respawner>& keeper) {
    const auto& range = keeper->members().plan().options.consumers;
    if (range.min == range.max) return;
    keeper->members().measure();
    watched_.push_back({keeper, decide::scale_governor(options_.hysteresis, options_.cooldown)});
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
    const auto& queue = at.keeper->members().plan().queue();
    if (at.asking) {
        at.governor.blind();
        return report({look(at, {}), scale_decision::hold("the depth of '" + queue + "' has not been told yet")});
    }
    at.asking = true;
    broker_->driver().depth(queue, [weak = weak_from_this(), which, now](result<spi::queue_depth> depth) {
        const auto self = weak.lock();
        if (!self) return;
        self->broker_->supervising().post([weak, which, now, depth = std::move(depth)] {
            if (auto same = weak.lock()) same->answered(which, depth, now);
        });
    });
}

void scaler::answered(std::size_t which, const result<spi::queue_depth>& depth, steady_time now) {
    auto& at = watched_[which];
    auto& members = at.keeper->members();
    at.asking = false;
    if (members.draining()) return;
    const auto& queue = members.plan().queue();
    if (!depth) {
        at.governor.blind();
        const auto text = "the depth of '" + queue + "' is not known: " + depth.error().message();
        if (!std::exchange(at.failing, true)) broker_->log(log_level::warning, text);
        return report({look(at, {}), scale_decision::hold(text)});
    }
    at.failing = false;
    const auto seen = look(at, *depth);
    if (const auto target = members.target(); seen.consumers < target) {
        at.governor.blind();
        at.keeper->look_soon();
        return report({seen, scale_decision::hold(std::to_string(seen.consumers) + " of " + std::to_string(target) +
                                                  " consumers run; the others are being replaced")});
    }
    const auto decision = at.governor.judge(seen, wish(seen), now);
    const auto changed = carry_out(members, decision);
    // A factory that throws is not asked again at the next poll.
    if (changed > 0 || decision.what == scale_decision::action::up) at.governor.changed(now);
    report({seen, decision, changed});
}

scale_snapshot scaler::look(watched& at, const spi::queue_depth& depth) const {
    auto& members = at.keeper->members();
    const auto& options = members.plan().options;
    const auto head = members.count();
    scale_snapshot seen;
    seen.queue = members.plan().queue();
    seen.ready = depth.ready;
    seen.in_flight = head.held;
    seen.consumers = head.live;
    seen.busy = head.busy;
    seen.min = options.consumers.min;
    seen.max = options.consumers.max;
    seen.prefetch = options.prefetch;
    seen.calls_at_once = members.calls_at_once();
    seen.service_time = members.service_time();
    return seen;
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
std::uint32_t scaler::carry_out(crew& members, const scale_decision& decision) const {
    std::uint32_t changed = 0;
    if (decision.what == scale_decision::action::down) changed = members.retire(decision.by);
    if (decision.what == scale_decision::action::up) {
        changed = members.engage(decision.by);
        members.raise_target(changed);
    }
    if (changed > 0) {
        const bool up = decision.what == scale_decision::action::up;
        broker_->log(log_level::info, "'" + members.plan().queue() + "': " + std::to_string(changed) +
                                          (up ? " consumer(s) more, " : " consumer(s) fewer, ") +
                                          std::to_string(members.target()) + " in all: " + decision.reason);
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
