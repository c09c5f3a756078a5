#include "settle_policy.hpp"

#include <algorithm>

#include "bounded_text.hpp"

namespace shove::decide {
namespace {

using spi::history;
using spi::settlement_kind;

history& past_of(spi::delivery& item) {
    if (!item.past) item.past = std::make_unique<history>();
    return *item.past;
}

void note_failure(history& past, std::string_view text, wall_time now) {
    if (past.first_failed_at == wall_time{}) {
        past.first_failed_at = now;
        past.first_error = bounded_text(text, history::max_error_bytes);
    }
    past.last_failed_at = now;
    past.last_error = bounded_text(text, history::max_error_bytes);
}

verdict dead_letter(const failure_policy& policy, spi::delivery item, std::string_view reason, std::string_view text,
                    wall_time now) {
    verdict v;
    v.reason = reason;
    if (!policy.has_dlq) {
        v.fate = fate::discarded;
        v.what.item = std::move(item);
        return v;
    }
    auto& past = past_of(item);
    if (!text.empty()) note_failure(past, text, now);
    past.death_reason = reason;
    past.original_queue = policy.queue;
    ++past.death_count;
    past.dead_at = now;
    v.fate = fate::dead_lettered;
    v.what.kind = settlement_kind::dead_letter;
    v.what.item = std::move(item);
    return v;
}

/// The tier whose delay is the next longer one, else the longest.
std::size_t tier_for(const std::vector<milliseconds>& holds, milliseconds delay) {
    std::size_t best = 0;
    for (std::size_t i = 0; i < holds.size(); ++i) {
        const bool fits = holds[i] >= delay;
        const bool best_fits = holds[best] >= delay;
        if (fits != best_fits ? fits : fits ? holds[i] < holds[best] : holds[i] > holds[best]) best = i;
    }
    return best;
}

void delay_by_tier(verdict& v, const failure_policy& policy, std::size_t tier) {
    v.what.tier = tier;
    v.what.delay = policy.holds[tier];
}

void choose_delay(verdict& v, const failure_policy& policy, std::optional<milliseconds> wanted, std::uint32_t retries) {
    if (wanted && policy.any_delay) {
        v.what.delay = *wanted;
    } else if (policy.holds.empty()) {
        v.what.delay = wanted.value_or(default_delay(retries));
    } else if (wanted) {
        delay_by_tier(v, policy, tier_for(policy.holds, *wanted));
    } else {
        delay_by_tier(v, policy, std::min<std::size_t>(retries, policy.holds.size() - 1));
    }
}

verdict retry_or_die(const failure_policy& policy, spi::delivery item, std::optional<milliseconds> delay,
                     std::string_view text, wall_time now) {
    const std::uint32_t retries = item.past ? item.past->retries : 0;
    if (retries >= policy.max_retries) {
        return dead_letter(policy, std::move(item), "max_retries_exceeded", text, now);
    }
    verdict v;
    v.fate = fate::retried;
    v.what.kind = settlement_kind::delay;
    choose_delay(v, policy, delay, retries);
    auto& past = past_of(item);
    ++past.retries;
    note_failure(past, text, now);
    v.what.item = std::move(item);
    return v;
}

/// A defer costs nothing; without a hold it waits a second, so that it cannot spin.
verdict defer_it(const failure_policy& policy, spi::delivery item, std::optional<milliseconds> delay) {
    verdict v;
    v.fate = fate::deferred;
    v.what.kind = settlement_kind::delay;
    if (policy.holds.empty() && !delay) delay = milliseconds(1'000);
    choose_delay(v, policy, delay, 0);
    v.what.item = std::move(item);
    return v;
}

ending counted_as(const ended& how) noexcept {
    if (how.how == ending::exception) return ending::retry;
    if (how.how != ending::timed_out) return how.how;
    switch (how.timeout_kind) {
        case outcome_kind::ack:
            return ending::acked;
        case outcome_kind::retry:
            return ending::retry;
        case outcome_kind::reject:
            return ending::reject;
        case outcome_kind::defer:
            return ending::defer;
    }
    return ending::retry;
}

}  // namespace

milliseconds default_delay(std::uint32_t retries) noexcept {
    return milliseconds(std::min<std::int64_t>(1'000, std::int64_t{10} << std::min<std::uint32_t>(retries, 7)));
}

verdict settle(const failure_policy& policy, spi::delivery item, ended how, wall_time now) {
    switch (counted_as(how)) {
        case ending::retry:
            return retry_or_die(policy, std::move(item), how.delay, how.text, now);
        case ending::defer:
            return defer_it(policy, std::move(item), how.delay);
        case ending::reject:
            return dead_letter(policy, std::move(item), "rejected", how.text, now);
        case ending::oversize:
            return dead_letter(policy, std::move(item), "oversize", how.text, now);
        case ending::undecodable:
            return dead_letter(policy, std::move(item), "deserialize", how.text, now);
        case ending::expired:
            return dead_letter(policy, std::move(item), "expired", how.text, now);
        case ending::crashed:
            return dead_letter(policy, std::move(item), "crashed", how.text, now);
        case ending::poisoned:
            return dead_letter(policy, std::move(item), "poisoned", how.text, now);
        case ending::acked:
        case ending::exception:
        case ending::timed_out:
            break;
    }
    verdict v;
    v.what.item = std::move(item);
    return v;
}

verdict settle_dead(spi::delivery item, const ended& how) {
    verdict v;
    if (how.how != ending::acked) {
        v.fate = fate::deferred;
        v.what.kind = settlement_kind::delay;
        const auto again = std::min<std::uint32_t>(item.deliveries ? item.deliveries - 1 : 0, 5);
        v.what.delay = how.delay.value_or(std::min(milliseconds(30'000), milliseconds(1'000 << again)));
    }
    v.what.item = std::move(item);
    return v;
}

std::optional<ended> refuse_unhandled(const failure_policy& policy, const size_limits& limits,
                                      const spi::delivery& item, wall_time now) {
    ended e;
    if (item.past && item.past->crashes >= policy.crash_budget && policy.crash_budget > 0) {
        e.how = ending::crashed;
        e.text = "the process died " + std::to_string(item.past->crashes) + " times while handling it";
        return e;
    }
    if (const auto size = item.msg.payload().size(); size > limits.max_message_bytes) {
        e.how = ending::oversize;
        e.text = "the payload has " + std::to_string(size) + " bytes; the limit is " +
                 std::to_string(limits.max_message_bytes);
        return e;
    }
    if (const auto expiry = item.msg.expires_at(); expiry != wall_time{} && expiry <= now) {
        e.how = ending::expired;
        e.text = "it expired before it could be handled";
        return e;
    }
    return std::nullopt;
}

}  // namespace shove::decide
