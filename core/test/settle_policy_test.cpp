#include <gtest/gtest.h>

#include <string>

#include "../src/decide/backoff.hpp"
#include "../src/decide/bounded_text.hpp"
#include "../src/decide/settle_policy.hpp"

namespace shove::decide {
namespace {

using spi::settlement_kind;

const wall_time noon(std::chrono::seconds(1'700'000'000));

failure_policy policy() {
    failure_policy p;
    p.queue = "orders";
    p.max_retries = 2;
    p.holds = {milliseconds(100), milliseconds(500)};
    p.has_dlq = true;
    return p;
}

ended how(ending e, std::string text = {}) {
    ended made;
    made.how = e;
    made.text = std::move(text);
    return made;
}

TEST(settle_policy, a_message_is_called_once_and_max_retries_times_more) {
    const auto p = policy();
    spi::delivery item;
    std::vector<milliseconds> delays;
    for (int calls = 1;; ++calls) {
        auto v = settle(p, std::move(item), how(ending::retry, "no " + std::to_string(calls)), noon);
        item = std::move(v.what.item);
        if (v.fate == fate::dead_lettered) {
            EXPECT_EQ(calls, 3);
            break;
        }
        ASSERT_EQ(v.what.kind, settlement_kind::delay);
        delays.push_back(v.what.delay);
    }
    EXPECT_EQ(delays, (std::vector<milliseconds>{milliseconds(100), milliseconds(500)}));
    EXPECT_EQ(item.past->retries, 2u);
    EXPECT_EQ(item.past->death_reason, "max_retries_exceeded");
    EXPECT_EQ(item.past->original_queue, "orders");
    EXPECT_EQ(item.past->death_count, 1u);
    EXPECT_EQ(item.past->first_error, "no 1");
    EXPECT_EQ(item.past->last_error, "no 3");
    EXPECT_EQ(item.past->dead_at, noon);
}

TEST(settle_policy, no_retries_means_one_call) {
    auto p = policy();
    p.max_retries = 0;
    EXPECT_EQ(settle(p, {}, how(ending::exception, "x"), noon).fate, fate::dead_lettered);
}

TEST(settle_policy, the_last_tier_is_used_again) {
    auto p = policy();
    p.max_retries = 10;
    spi::delivery item;
    for (int i = 0; i < 5; ++i)
        item = settle(p, std::move(item), how(ending::retry), noon).what.item;
    const auto v = settle(p, std::move(item), how(ending::retry), noon);
    EXPECT_EQ(v.what.delay, milliseconds(500));
    EXPECT_EQ(v.what.tier, 1u);
}

TEST(settle_policy, defer_costs_nothing_and_uses_the_first_tier) {
    const auto p = policy();
    spi::delivery item;
    for (int i = 0; i < 100; ++i) {
        auto v = settle(p, std::move(item), how(ending::defer), noon);
        EXPECT_EQ(v.fate, fate::deferred);
        EXPECT_EQ(v.what.delay, milliseconds(100));
        item = std::move(v.what.item);
        EXPECT_FALSE(item.past);
    }
}

TEST(settle_policy, nothing_spins_without_holds) {
    auto p = policy();
    p.holds.clear();
    EXPECT_EQ(settle(p, {}, how(ending::defer), noon).what.delay, milliseconds(1'000));
    EXPECT_EQ(settle(p, {}, how(ending::retry), noon).what.delay, milliseconds(10));
    EXPECT_EQ(default_delay(3), milliseconds(80));
    EXPECT_EQ(default_delay(4'000'000'000), milliseconds(1'000));
}

TEST(settle_policy, a_delay_of_the_handlers_own) {
    auto p = policy();
    auto e = how(ending::retry);
    e.delay = milliseconds(200);
    EXPECT_EQ(settle(p, {}, e, noon).what.delay, milliseconds(200));
    p.any_delay = false;
    EXPECT_EQ(settle(p, {}, e, noon).what.delay, milliseconds(500));  // the next longer tier
    e.delay = milliseconds(9'000);
    EXPECT_EQ(settle(p, {}, e, noon).what.tier, 1u);  // else the longest
    e.delay = milliseconds(0);
    EXPECT_EQ(settle(p, {}, e, noon).what.tier, 0u);
}

TEST(settle_policy, what_was_not_called_goes_straight_to_the_dead_letters) {
    const auto p = policy();
    for (const auto& [e, reason] : {std::pair{ending::oversize, "oversize"},
                                    {ending::undecodable, "deserialize"},
                                    {ending::expired, "expired"},
                                    {ending::crashed, "crashed"},
                                    {ending::reject, "rejected"}}) {
        const auto v = settle(p, {}, how(e, "why"), noon);
        EXPECT_EQ(v.what.kind, settlement_kind::dead_letter);
        EXPECT_EQ(v.what.item.past->death_reason, reason);
        EXPECT_EQ(v.what.item.past->last_error, "why");
        EXPECT_EQ(v.what.item.past->retries, 0u);
    }
}

TEST(settle_policy, without_a_dead_letter_queue_it_is_discarded) {
    auto p = policy();
    p.has_dlq = false;
    const auto v = settle(p, {}, how(ending::reject), noon);
    EXPECT_EQ(v.fate, fate::discarded);
    EXPECT_EQ(v.what.kind, settlement_kind::complete);
}

TEST(settle_policy, a_timeout_counts_as_its_outcome) {
    const auto p = policy();
    auto e = how(ending::timed_out, "timed out");
    EXPECT_EQ(settle(p, {}, e, noon).fate, fate::retried);
    e.timeout_kind = outcome_kind::reject;
    EXPECT_EQ(settle(p, {}, e, noon).fate, fate::dead_lettered);
    e.timeout_kind = outcome_kind::defer;
    EXPECT_EQ(settle(p, {}, e, noon).fate, fate::deferred);
    e.timeout_kind = outcome_kind::ack;
    EXPECT_EQ(settle(p, {}, e, noon).fate, fate::completed);
}

TEST(settle_policy, dead_letters_are_only_removed_by_ack) {
    EXPECT_EQ(settle_dead({}, how(ending::acked)).what.kind, settlement_kind::complete);
    for (const auto e : {ending::retry, ending::reject, ending::defer, ending::exception, ending::undecodable}) {
        spi::delivery item;
        item.deliveries = 40;
        const auto v = settle_dead(std::move(item), how(e));
        EXPECT_EQ(v.what.kind, settlement_kind::delay);
        EXPECT_EQ(v.what.delay, milliseconds(30'000));
    }
}

TEST(settle_policy, checks_before_the_call) {
    const auto p = policy();
    const std::string body(100, 'x');
    message_parts parts;
    parts.payload = std::as_bytes(std::span(body));
    parts.expires_at = noon;
    spi::delivery item;
    item.msg = message::make(parts);
    EXPECT_FALSE(refuse_unhandled(p, {100}, item, noon - std::chrono::seconds(1)));
    EXPECT_EQ(refuse_unhandled(p, {99}, item, noon - std::chrono::seconds(1))->how, ending::oversize);
    EXPECT_EQ(refuse_unhandled(p, {100}, item, noon)->how, ending::expired);
    item.past = std::make_unique<spi::history>();
    item.past->crashes = 2;
    EXPECT_FALSE(refuse_unhandled(p, {100}, item, noon - std::chrono::seconds(1)));
    item.past->crashes = 3;
    EXPECT_EQ(refuse_unhandled(p, {100}, item, noon)->how, ending::crashed);
}

TEST(bounded_text, cuts_between_characters) {
    EXPECT_EQ(bounded_text("short", 10), "short");
    EXPECT_EQ(bounded_text(std::string(20, 'x'), 10), std::string(7, 'x') + "\xE2\x80\xA6");
    std::string euros;
    for (int i = 0; i < 1'000'000; ++i)
        euros += "\xE2\x82\xAC";
    const auto cut = bounded_text(euros, 2048);
    EXPECT_LE(cut.size(), 2048u);
    EXPECT_EQ((cut.size() - 3) % 3, 0u);
    EXPECT_EQ(cut.substr(cut.size() - 6, 3), "\xE2\x82\xAC");
}

TEST(bounded_text, replaces_what_is_not_utf8) {
    EXPECT_EQ(bounded_text("a\xff"
                           "b",
                           10),
              "a?b");
    EXPECT_EQ(bounded_text("\xc0\xaf", 10), "??");
    EXPECT_EQ(bounded_text("\xed\xa0\x80", 10), "???");
    EXPECT_EQ(bounded_text("\xf0\x9f\x98\x80", 10), "\xf0\x9f\x98\x80");
    EXPECT_EQ(bounded_text("\xe2\x82", 10), "??");
}

TEST(backoff, doubles_to_its_maximum_and_starts_again) {
    backoff b(milliseconds(100), milliseconds(1'000));
    EXPECT_EQ(b.next(50), milliseconds(100));
    EXPECT_EQ(b.next(0), milliseconds(100));
    EXPECT_EQ(b.next(0), milliseconds(200));
    for (int i = 0; i < 100; ++i) {
        const auto wait = b.next(static_cast<std::uint64_t>(i) * 977);
        EXPECT_GE(wait, milliseconds(400));
        EXPECT_LE(wait, milliseconds(1'000));
    }
    b.reset();
    EXPECT_LE(b.next(7), milliseconds(100));
}

}  // namespace
}  // namespace shove::decide
