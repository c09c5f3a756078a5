#include "group.hpp"

#include <shove/detail/lease_rules.hpp>

#include <algorithm>
#include <utility>

namespace shove::inprocess_backend::lease {

group::~group() {
    for (const auto& [number, one] : active_) {
        if (one.token) tokens_.erase(*one.token);
    }
}

void group::release(active_map::iterator which) {
    auto& [number, one] = *which;
    ends_.erase({one.ends, number});
    tokens_.erase(*one.token);
    one.token.reset();
}

void group::park(active_map::iterator which, std::int64_t due_ms) {
    which->second.due_ms = due_ms;
    delayed_.emplace(due_ms, which->first);
}

void group::bury(active_map::iterator which, std::string code, std::int64_t now_ms) {
    auto& [number, one] = *which;
    dead_.insert_or_assign(number, dead{std::move(one.consumer), std::move(code), one.attempts, now_ms});
    active_.erase(which);
}

void group::end(active_map::iterator which, const moment& now, const lease_limits& limits) {
    release(which);
    if (detail::gives_up(which->second.attempts, limits)) {
        bury(which, std::string(detail::attempts_used_up), now.wall_ms);
    } else {
        ready_.insert(which->first);
    }
}

void group::sweep(const moment& now, const lease_limits& limits) {
    while (!ends_.empty() && ends_.begin()->first <= now.steady)
        end(active_.find(ends_.begin()->second), now, limits);
}

void group::wake(const moment& now, const lease_limits& limits) {
    while (!delayed_.empty() && delayed_.begin()->first <= now.wall_ms) {
        const auto which = active_.find(delayed_.begin()->second);
        delayed_.erase(delayed_.begin());
        if (detail::gives_up(which->second.attempts, limits)) {
            bury(which, std::string(detail::attempts_used_up), now.wall_ms);
        } else {
            ready_.insert(which->first);
        }
    }
}

std::size_t group::available(const topic_log& log, std::size_t most) const {
    auto found = std::min(most, ready_.size());
    for (auto at = log.following(cursor_); found < most && at < log.next(); at = log.following(at))
        ++found;
    return found;
}

leased group::take(const topic_log& log, const lease_request& what, const lease_token& token, const moment& now) {
    sequence number = 0;
    if (!ready_.empty()) {
        number = *ready_.begin();
        ready_.erase(ready_.begin());
    } else {
        number = cursor_ = log.following(cursor_);
    }
    auto& one = active_[number];
    ++one.attempts;
    one.ends = now.steady + what.lease;
    one.token = token;
    one.consumer = what.consumer;
    ends_.emplace(one.ends, number);
    tokens_.emplace(token, held_at{this, number});
    return {
        log.find(number), name_, what.consumer, one.attempts, detail::from_ms(now.wall_ms + what.lease.count()), token};
}

result<lease_settled> group::settle(sequence number, const lease_settlement& how, const moment& now,
                                    const lease_limits& limits) {
    using state = lease_settled::state;
    const auto which = active_.find(number);
    auto& one = which->second;
    if (one.ends <= now.steady) {
        end(which, now, limits);
        return detail::lease_over();
    }
    const auto at = detail::later_ms(now.wall_ms, how.time);
    if (!at) return at.error();
    switch (how.what) {
        case lease_settlement::kind::acknowledge:
            release(which);
            active_.erase(which);
            return lease_settled{state::acknowledged, detail::from_ms(now.wall_ms)};
        case lease_settlement::kind::extend:
            ends_.erase({one.ends, number});
            one.ends = now.steady + how.time;
            ends_.emplace(one.ends, number);
            return lease_settled{state::extended, detail::from_ms(*at)};
        case lease_settlement::kind::again:
            if (detail::gives_up(one.attempts, limits)) break;
            release(which);
            park(which, *at);
            return lease_settled{state::scheduled, detail::from_ms(*at)};
        case lease_settlement::kind::dead:
            break;
    }
    release(which);
    bury(which, how.code, now.wall_ms);
    return lease_settled{state::dead_lettered, detail::from_ms(now.wall_ms)};
}

bool group::redrive(sequence number, std::int64_t now_ms) {
    if (dead_.erase(number) == 0) return false;
    park(active_.emplace(number, entry{}).first, now_ms);
    return true;
}

std::optional<steady_time> group::next_change(const moment& now) const {
    std::optional<steady_time> when;
    if (!ends_.empty()) when = ends_.begin()->first;
    if (delayed_.empty()) return when;
    const auto due = now.steady + milliseconds(std::max<std::int64_t>(0, delayed_.begin()->first - now.wall_ms));
    return when ? std::min(*when, due) : due;
}

lease_group_stats group::count(const topic_log& log) const {
    lease_group_stats made;
    made.group = name_;
    made.leased = ends_.size();
    made.pending = active_.size() - ends_.size();
    for (auto at = log.following(cursor_); at < log.next(); at = log.following(at))
        ++made.pending;
    made.dead = dead_.size();
    return made;
}

}  // namespace shove::inprocess_backend::lease
