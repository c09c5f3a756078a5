#include <algorithm>

#include "broker_core.hpp"
#include "call_answer.hpp"
#include "consumer.hpp"

// What a consumer measures, where its broker has a `metrics`. All but `meter_received` counts what was decided, not
// what was tried. With the lock held throughout: one writer at a time.

namespace shove::detail {
void consumer::meter_received(const std::vector<spi::delivery>& batch) const {
    for (const auto& item : batch) {
        const auto size = item.msg.payload().size();
        meters_->sizes.add(static_cast<double>(size), size);
    }
}

void consumer::meter_begun(const call& c) {
    handled_now_ += c.messages();
    meters_->in_flight.set(handled_now_);
}

/// A call has returned: its time. One that was settled without it was measured then.
void consumer::meter_ended(const call& c, const call_end& end) {
    handled_now_ -= c.messages();
    meters_->in_flight.set(handled_now_);
    if (!end.called || (c.now == call::phase::abandoned && !lanes_)) return;
    const auto kind = c.now == call::phase::abandoned ? plan_.options.timeout_outcome.kind() : counted_outcome(end.all);
    if (kind) meters_->took[static_cast<std::size_t>(*kind)].note(c.ended - c.began);
}

/// A call is settled without its answer.
void consumer::meter_abandoned(const call& c) const {
    const auto kind = static_cast<std::size_t>(plan_.options.timeout_outcome.kind());
    meters_->took[kind].note(core_->clock().now() - c.started);
}

void consumer::meter_outcome(const decide::ended& how) const {
    if (const auto kind = counted_outcome(how)) meters_->consumed[static_cast<std::size_t>(*kind)].add();
    if (how.how == decide::ending::timed_out) meters_->failed[reason_index("timeout")].add();
}

/// A failure counts when it is decided; what follows from an earlier one's does not. A message is discarded when the
/// broker has let it go.
void consumer::meter_fate(const decide::verdict& verdict, const decide::ended& how) {
    if (verdict.reason.empty()) return;
    const auto why = reason_index(verdict.reason);
    if (how.how != decide::ending::poisoned) meters_->failed[why].add();
    if (verdict.fate == decide::fate::discarded) discards_[verdict.what.item.tag] = why;
}

void consumer::begin_settling_discards(const std::vector<spi::settlement>& batch) {
    for (const auto& s : batch) {
        const auto at = discards_.find(s.item.tag);
        if (at == discards_.end()) continue;
        settling_discards_.emplace_back(*at);
        discards_.erase(at);
    }
}

void consumer::end_settling_discards(const std::vector<spi::failed_settlement>& failed) {
    for (const auto& [tag, why] : std::exchange(settling_discards_, {})) {
        const auto at = std::ranges::find(failed, tag, [](const auto& f) { return f.what.item.tag; });
        if (at == failed.end()) {
            meters_->discarded[why].add();
        } else if (!(at->cause == errc::lease_lost)) {
            discards_[tag] = why;
        }
    }
}

void consumer::meter_state() const {
    const bool here = phase_ == phase::subscribing || phase_ == phase::running;
    meters_->consumers.set(here ? 1 : 0);
    meters_->stuck.set(stats_.stuck);
    meters_->leases_lost.set(stats_.leases_lost);
    meters_->settle_retries.set(stats_.settle_retries);
}

}  // namespace shove::detail
