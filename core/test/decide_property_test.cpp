#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../src/decide/backoff.hpp"
#include "../src/decide/bounded_text.hpp"
#include "../src/decide/settle_policy.hpp"

namespace shove::decide {
namespace {

using spi::settlement_kind;

/// A policy of any kind.
failure_policy any_policy() {
    failure_policy made;
    made.queue = "orders";
    made.max_retries = *rc::gen::inRange<std::uint32_t>(0, 6);
    made.any_delay = *rc::gen::arbitrary<bool>();
    made.has_dlq = *rc::gen::arbitrary<bool>();
    for (const auto delay : *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 100'000))) {
        if (made.holds.size() < 16) made.holds.emplace_back(delay);
    }
    return made;
}

/// An ending after which a message may come again.
ended any_failure() {
    ended made;
    made.how = *rc::gen::element(ending::retry, ending::exception, ending::timed_out, ending::defer);
    made.timeout_kind = *rc::gen::element(outcome_kind::retry, outcome_kind::defer);
    if (*rc::gen::inRange(0, 4) == 0) made.delay = milliseconds(*rc::gen::inRange(0, 200'000));
    made.text = *rc::gen::arbitrary<std::string>();
    return made;
}

bool costs(const ended& how) {
    if (how.how == ending::timed_out) return how.timeout_kind == outcome_kind::retry;
    return how.how != ending::defer;
}

/// True if every byte belongs to a whole, well-formed character.
bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        const std::size_t length = lead < 0x80                    ? 1
                                   : lead >= 0xf0 && lead <= 0xf4 ? 4
                                   : lead >= 0xe0                 ? 3
                                   : lead >= 0xc2                 ? 2
                                                                  : 0;
        if (length == 0 || i + length > text.size()) return false;
        for (std::size_t k = 1; k < length; ++k) {
            if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return false;
        }
        i += length;
    }
    return true;
}

RC_GTEST_PROP(settle_property, a_message_fails_exactly_once_more_than_its_budget, ()) {
    const auto policy = any_policy();
    spi::delivery item;
    item.tag = 7;
    std::uint32_t failures = 0;
    wall_time now{std::chrono::hours(1)};
    for (int call = 0; call < 200; ++call) {
        now += milliseconds(1);
        const auto how = any_failure();
        auto decided = settle(policy, std::move(item), how, now);
        item = std::move(decided.what.item);
        RC_ASSERT(item.tag == 7U);
        failures += costs(how) ? 1 : 0;
        if (failures == policy.max_retries + 1) {
            RC_ASSERT(decided.fate == (policy.has_dlq ? fate::dead_lettered : fate::discarded));
            RC_ASSERT(decided.what.kind == (policy.has_dlq ? settlement_kind::dead_letter : settlement_kind::complete));
            if (policy.has_dlq) RC_ASSERT(item.past->death_reason == "max_retries_exceeded");
            return;
        }
        RC_ASSERT(decided.what.kind == settlement_kind::delay);
        RC_ASSERT(decided.fate == (costs(how) ? fate::retried : fate::deferred));
        RC_ASSERT((item.past ? item.past->retries : 0U) == failures);
        RC_ASSERT(decided.what.delay >= milliseconds(0));
    }
}

RC_GTEST_PROP(settle_property, delays_come_from_the_tiers_or_the_handler, ()) {
    const auto policy = any_policy();
    const auto how = any_failure();
    spi::delivery item;
    item.past = std::make_unique<spi::history>();
    item.past->retries = *rc::gen::inRange<std::uint32_t>(0, 100);
    RC_PRE(item.past->retries < policy.max_retries || !costs(how));
    const auto retries = item.past->retries;
    const auto decided = settle(policy, std::move(item), how, {});
    RC_ASSERT(decided.what.kind == settlement_kind::delay);
    if (decided.what.tier) {
        RC_ASSERT(*decided.what.tier < policy.holds.size());
        RC_ASSERT(decided.what.delay == policy.holds[*decided.what.tier]);
        RC_ASSERT(!(how.delay && policy.any_delay));
        if (!how.delay)
            RC_ASSERT(*decided.what.tier == (costs(how) ? std::min<std::size_t>(retries, policy.holds.size() - 1) : 0));
    } else {
        RC_ASSERT(policy.holds.empty() || (how.delay && policy.any_delay));
        if (how.delay) RC_ASSERT(decided.what.delay == *how.delay);
        if (!how.delay) RC_ASSERT(decided.what.delay >= milliseconds(10));  // it cannot spin
    }
}

RC_GTEST_PROP(settle_property, only_an_answer_completes_where_there_are_dead_letters, ()) {
    auto policy = any_policy();
    policy.has_dlq = true;
    ended how;
    how.how = *rc::gen::element(ending::acked, ending::retry, ending::reject, ending::defer, ending::exception,
                                ending::oversize, ending::undecodable, ending::expired, ending::crashed);
    const auto decided = settle(policy, {}, how, {});
    RC_ASSERT((decided.what.kind == settlement_kind::complete) == (how.how == ending::acked));
    RC_ASSERT(decided.what.kind != settlement_kind::release);
}

RC_GTEST_PROP(settle_property, the_story_is_bounded_readable_text, ()) {
    const auto policy = any_policy();
    ended how;
    how.how = ending::exception;
    how.text = *rc::gen::arbitrary<std::string>() + std::string(*rc::gen::inRange<std::size_t>(0, 5000), '\xc3');
    const auto decided = settle(policy, {}, how, {});
    if (!decided.what.item.past) return;
    RC_ASSERT(decided.what.item.past->last_error.size() <= spi::history::max_error_bytes);
    RC_ASSERT(is_utf8(decided.what.item.past->last_error));
}

RC_GTEST_PROP(bounded_text_property, fits_and_is_utf8, (const std::string& bytes)) {
    const auto max = *rc::gen::inRange<std::size_t>(0, 64);
    const auto made = bounded_text(bytes, max);
    RC_ASSERT(made.size() <= max);
    RC_ASSERT(is_utf8(made));
    RC_ASSERT(bounded_text(made, max) == made);
    if (is_utf8(bytes) && bytes.size() <= max) RC_ASSERT(made == bytes);
}

RC_GTEST_PROP(backoff_property, stays_within_its_bounds, ()) {
    const milliseconds base(*rc::gen::inRange(1, 1000));
    const auto max = base * *rc::gen::inRange(1, 1000);
    backoff waits(base, max);
    auto whole = base;
    for (int i = 0; i < 60; ++i) {
        const auto wait = waits.next(*rc::gen::arbitrary<std::uint64_t>());
        RC_ASSERT(wait <= whole);
        RC_ASSERT(wait >= whole / 2);
        whole = std::min(max, whole * 2);
    }
    waits.reset();
    RC_ASSERT(waits.next(0) <= base);
}

}  // namespace
}  // namespace shove::decide
