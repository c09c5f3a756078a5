#include "crew.hpp"

#include <algorithm>

#include "broker_core.hpp"

namespace shove::detail {
namespace {

/// Texts kept of consumers that failed: a broker that refuses for weeks must not fill the memory.
constexpr std::size_t max_failure_texts = 100;

void note(run_outcome& outcome, const consumer_end& end) {
    if (end.failed) ++outcome.errors;
    if (end.panicked) ++outcome.panics;
    if ((end.failed || end.panicked) && outcome.failures.size() < max_failure_texts)
        outcome.failures.push_back(end.text);
}

bool alive(const consumer& c) {
    const auto end = c.end();
    return !end.failed && !end.panicked && !c.finished();
}

}  // namespace

crew::crew(std::shared_ptr<broker_core> broker, consumer_plan plan, handler_factory make, std::function<void()> changed)
    : broker_(std::move(broker)),
      plan_(std::move(plan)),
      make_(std::move(make)),
      changed_(std::move(changed)),
      target_(plan_.options.consumers.min) {}

/// With the lock held: calls `action` with every consumer that has not been swept.
template <class F>
void crew::each(F&& action) const {
    for (const auto* list : {&working_, &leaving_})
        std::ranges::for_each(*list, action);
}

std::size_t crew::calls_at_once() const {
    const std::lock_guard lock(mutex_);
    const auto most = plan_.calls_at_once();
    return coroutine_ ? most : std::min<std::size_t>(most, broker_->workers().size());
}

std::shared_ptr<consumer> crew::make_one() {
    auto own = plan_;
    own.name = plan_.place() + "-" + std::to_string(next_name_++);
    own.handler = make_();
    std::optional<std::size_t> limit;
    {
        const std::lock_guard lock(mutex_);
        coroutine_ = own.handler->is_coroutine();
        limit = call_limit_;
    }
    if (meter_) own.handler = measured(std::move(own.handler), meter_, broker_->clock());
    auto made = std::make_shared<consumer>(broker_, std::move(own), changed_);
    if (limit) made->limit_calls(*limit);
    return made;
}

crew::consumers crew::hire(std::uint32_t n) {
    consumers made;
    for (std::uint32_t i = 0; i < n; ++i)
        made.push_back(make_one());
    const std::lock_guard lock(mutex_);
    if (draining_) return {};
    working_.insert(working_.end(), made.begin(), made.end());
    return made;
}

std::uint32_t crew::engage(std::uint32_t n) {
    consumers made;
    try {
        made = hire(n);
    } catch (const std::exception& e) {
        broker_->tell(happening::factory_failed,
                      "the factory of handlers for '" + plan_.queue() + "' threw: " + e.what(),
                      {{"queue", plan_.queue()}, {"error", e.what()}});
    } catch (...) {
        broker_->tell(happening::factory_failed, "the factory of handlers for '" + plan_.queue() + "' threw",
                      {{"queue", plan_.queue()}, {"error", ""}});
    }
    for (const auto& c : made)
        c->start();
    return static_cast<std::uint32_t>(made.size());
}

std::uint32_t crew::retire(std::uint32_t n) {
    consumers candidates;
    {
        const std::lock_guard lock(mutex_);
        if (draining_) return 0;
        candidates.assign(working_.rbegin(), working_.rend());
    }
    std::uint32_t told = 0;
    for (const auto& c : candidates) {
        if (told == n) break;
        if (!c->begin_drain(/*only_if_idle=*/true)) continue;
        ++told;
        const std::lock_guard lock(mutex_);
        std::erase(working_, c);
        leaving_.push_back(c);
        --target_;
    }
    return told;
}

void crew::limit_calls(std::size_t most) {
    consumers all;
    {
        const std::lock_guard lock(mutex_);
        call_limit_ = most;
        all = working_;
    }
    for (const auto& c : all)
        c->limit_calls(most);
}

void crew::begin_drain() {
    consumers all;
    {
        const std::lock_guard lock(mutex_);
        draining_ = true;
        all = working_;  // those that leave drain already
    }
    for (const auto& c : all)
        c->begin_drain();
}

std::uint32_t crew::target() const {
    const std::lock_guard lock(mutex_);
    return target_;
}

void crew::raise_target(std::uint32_t by) {
    const std::lock_guard lock(mutex_);
    target_ += by;
}

void crew::count_respawned(std::uint32_t n) {
    const std::lock_guard lock(mutex_);
    gone_.respawned += n;
    if (auto* meters = broker_->meters()) meters->respawned.add(n);
}

crew::consumers crew::sweep() {
    consumers ended;
    const std::lock_guard lock(mutex_);
    for (auto* list : {&working_, &leaving_}) {
        const auto gone =
            std::stable_partition(list->begin(), list->end(), [](const auto& c) { return !c->finished(); });
        ended.insert(ended.end(), gone, list->end());
        list->erase(gone, list->end());
    }
    for (const auto& c : ended) {
        c->add_stats(gone_);
        note(ends_, c->end());
    }
    return ended;
}

bool crew::someone_ended() const {
    const std::lock_guard lock(mutex_);
    bool found = false;
    each([&](const auto& c) { found = found || c->finished(); });
    return found;
}

crew::headcount crew::count() const {
    const std::lock_guard lock(mutex_);
    headcount found;
    consumer_stats all;
    for (const auto& c : leaving_)
        c->add_stats(all);
    for (const auto& c : working_) {
        consumer_stats own;
        c->add_stats(own);
        all.unsettled += own.unsettled;
        all.running += own.running;
        if (!alive(*c)) continue;
        ++found.live;
        if (own.unsettled > 0 || own.running > 0) ++found.busy;
    }
    found.held = all.unsettled;
    found.running = all.running;
    return found;
}

bool crew::draining() const {
    const std::lock_guard lock(mutex_);
    return draining_;
}

bool crew::subscribed() const {
    const std::lock_guard lock(mutex_);
    return std::ranges::all_of(working_, [](const auto& c) { return c->subscribed(); });
}

bool crew::finished() const {
    const std::lock_guard lock(mutex_);
    bool all = true;
    each([&](const auto& c) { all = all && c->finished(); });
    return all;
}

std::optional<error> crew::refusal() const {
    const std::lock_guard lock(mutex_);
    for (const auto& c : working_) {
        if (c->never_subscribed() && c->end().failed) return c->first_error();
    }
    return std::nullopt;
}

void crew::add_stats(consumer_stats& to) const {
    const std::lock_guard lock(mutex_);
    to += gone_;
    each([&](const auto& c) { c->add_stats(to); });
    to.consumers +=
        static_cast<std::uint64_t>(std::ranges::count_if(working_, [](const auto& c) { return alive(*c); }));
}

void crew::report_stuck(std::vector<stuck_call>& to) const {
    const std::lock_guard lock(mutex_);
    each([&](const auto& c) { c->report_stuck(to); });
}

steady_time crew::last_received() const {
    const std::lock_guard lock(mutex_);
    auto latest = steady_time::min();
    each([&](const auto& c) { latest = std::max(latest, c->last_received()); });
    return latest;
}

void crew::report(run_outcome& outcome) const {
    const std::lock_guard lock(mutex_);
    outcome.errors += ends_.errors;
    outcome.panics += ends_.panics;
    outcome.failures.insert(outcome.failures.end(), ends_.failures.begin(), ends_.failures.end());
    each([&](const auto& c) {
        note(outcome, c->end());
        if (c->finished()) return;
        outcome.timed_out = true;
        c->report_left(outcome);
    });
}

}  // namespace shove::detail
