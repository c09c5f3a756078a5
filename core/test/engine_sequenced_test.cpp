#include "engine_fixture.hpp"

namespace shove::test {
namespace {

/// One shard, so that the scripted driver's order is the shard's.
class engine_sequenced : public engine_test {
protected:
    engine_sequenced() {
        can.key_order = true;
        can.keeps_keys = true;
    }
    static shove::topology spec(sequence_failure on_failure) {
        return shove::topology("orders").hold(1s).dlq().sequenced(on_failure).routing_shards(1);
    }
    void start_sequenced(detail::raw_function handler, consumer_options how = {},
                         sequence_failure on_failure = sequence_failure::skip) {
        consuming.emplace(broker().consumer_group());
        consuming->add(topic(spec(on_failure)), std::move(handler), how);
        consuming->start();
    }
    std::uint64_t deliver(std::string_view key, std::string_view body, bool poisoned = false) {
        message_parts parts;
        parts.id = body;
        parts.key = key;
        parts.payload = std::as_bytes(std::span(body));
        spi::delivery one;
        one.msg = message::make(parts);
        one.poisoned = poisoned;
        return driver().deliver(std::move(one));
    }
    /// Notes each body that it is called with; answers as `answers` says for a body, else ack.
    detail::raw_function noting() {
        return [this](std::span<const std::byte> body, const delivery&) {
            const std::string text(reinterpret_cast<const char*>(body.data()), body.size());
            calls.add(text);
            const std::lock_guard lock(mutex);
            const auto at = answers.find(text);
            if (at == answers.end() || at->second.empty()) return ack;
            const auto answer = at->second.front();
            at->second.erase(at->second.begin());
            return answer;
        };
    }
    std::vector<std::string> settled_kinds() {
        std::vector<std::string> made;
        for (const auto& each : driver().settled().all()) {
            const char* const names[] = {"complete", "delay", "dead", "release", "keep"};
            made.push_back(each.body + " " + names[static_cast<int>(each.kind)]);
        }
        return made;
    }
    void TearDown() override {
        if (consuming) {
            auto stopping = aside([&] { return consuming->stop(1h); });
            advance_until("the stop", 10ms, [&] { return stopping.wait_for(0ms) == std::future_status::ready; });
        }
        consuming.reset();
        engine_test::TearDown();
    }

    std::optional<any_group> consuming;
    recorder<std::string> calls;
    std::mutex mutex;
    std::map<std::string, std::vector<outcome>> answers;
};

TEST_F(engine_sequenced, one_call_of_a_key_at_a_time_others_beside_it) {
    const gate hold;
    const opens_at_exit opener(hold);
    start_sequenced([&](std::span<const std::byte> body, const delivery&) {
        const std::string text(reinterpret_cast<const char*>(body.data()), body.size());
        calls.add(text);
        if (text == "a1") hold.arrive();
        return ack;
    });
    deliver("a", "a1");
    deliver("a", "a2");
    deliver("b", "b1");
    hold.arrivals().wait(1, "the first call");
    eventually("the other key goes on", [&] { return calls.size() == 2; });
    EXPECT_EQ(std::ranges::count(calls.all(), "b1"), 1);
    hold.open();
    eventually("the key goes on", [&] { return calls.size() == 3; });
    EXPECT_EQ(calls.all().back(), "a2");
}

TEST_F(engine_sequenced, a_retry_keeps_its_place_and_closes_only_its_key) {
    answers["a1"] = {retry("not yet")};
    start_sequenced(noting());
    deliver("a", "a1");
    deliver("a", "a2");
    deliver("b", "b1");
    eventually("b and the first call of a", [&] { return calls.size() == 2; });
    eventually("the wait is noted", [&] { return driver().settled().size() >= 2; });
    const auto kinds = settled_kinds();
    EXPECT_TRUE(std::ranges::count(kinds, "a1 keep") == 1) << "it must stay where it is";
    advance_until("the second call", 100ms, [&] { return calls.size() == 4; });
    auto of_a = calls.all();
    std::erase(of_a, "b1");
    EXPECT_EQ(of_a, (std::vector<std::string>{"a1", "a1", "a2"}));
    wait_settled();
}

TEST_F(engine_sequenced, the_wait_begins_when_it_is_noted) {
    answers["a1"] = {retry};
    driver().hold_settles();
    start_sequenced(noting());
    deliver("a", "a1");
    eventually("the call", [&] { return calls.size() == 1; });
    clock->advance(1min);
    EXPECT_EQ(calls.size(), 1U);
    driver().release_settles();
    eventually("noted", [&] { return driver().settled().size() == 1; });
    advance_until("the second call", 500ms, [&] { return calls.size() == 2; });
}

TEST_F(engine_sequenced, a_failed_settlement_holds_later_ones_back) {
    std::atomic<int> refusals{1};
    driver().on_settle([&](const settled_item& what) {
        return what.body == "a1" && refusals-- > 0 ? error(errc::not_connected) : error();
    });
    start_sequenced(noting(), consumer_options{}.sequential());
    deliver("a", "a1");
    driver().refused().wait(1, "the refusal");
    deliver("a", "a2");
    eventually("both calls", [&] { return calls.size() == 2; });
    clock->advance(10ms);
    EXPECT_EQ(driver().settled().size(), 0U) << "a later settlement overtook a failed one";
    advance_until("both settled", 10ms, [&] { return driver().settled().size() == 2; });
    EXPECT_EQ(settled_kinds(), (std::vector<std::string>{"a1 complete", "a2 complete"}));
}

TEST_F(engine_sequenced, fail_all_dead_letters_the_rest_of_the_key_unhandled) {
    answers["a1"] = {reject("bad")};
    driver().hold_settles();  // else the driver would know of the poison when it hands out the second
    start_sequenced(noting(), {}, sequence_failure::fail_all);
    deliver("a", "a1");
    deliver("a", "a2");
    deliver("b", "b1");
    deliver("a", "a3");
    eventually("all received", [&] { return consuming->stats("orders").received == 4; });
    driver().release_settles();
    eventually("all settled", [&] { return driver().settled().size() == 4; });
    EXPECT_EQ(calls.size(), 2U) << "a poisoned message was handled";
    for (const auto& each : driver().settled().all()) {
        if (each.body == "b1") continue;
        EXPECT_EQ(each.kind, settlement_kind::dead_letter) << each.body;
        EXPECT_EQ(each.past.death_reason, each.body == "a1" ? "rejected" : "poisoned");
    }
}

TEST_F(engine_sequenced, the_drivers_poison_flag_counts) {
    start_sequenced(noting(), {}, sequence_failure::fail_all);
    deliver("a", "a7", true);
    eventually("settled", [&] { return driver().settled().size() == 1; });
    EXPECT_EQ(driver().settled().all().front().past.death_reason, "poisoned");
    EXPECT_EQ(calls.size(), 0U);
    deliver("a", "a8");  // released by an operator meanwhile
    eventually("handled", [&] { return calls.size() == 1; });
}

TEST_F(engine_sequenced, a_key_stays_closed_until_a_timed_out_handler_returns) {
    const gate hold;
    const opens_at_exit opener(hold);
    consumer_options how;
    how.handler_timeout = 1s;
    how.timeout_grace = 1s;
    start_sequenced(
        [&](std::span<const std::byte> body, const delivery&) {
            const std::string text(reinterpret_cast<const char*>(body.data()), body.size());
            calls.add(text);
            if (text == "a1" && calls.size() == 1) hold.arrive();
            return ack;
        },
        how);
    deliver("a", "a1");
    deliver("a", "a2");
    hold.arrivals().wait(1, "the call");
    advance_until("stuck", 500ms, [&] { return consuming->stats("orders").stuck == 1; });
    clock->advance(10s);
    EXPECT_EQ(driver().settled().size(), 0U) << "settled while its handler runs";
    EXPECT_EQ(calls.size(), 1U);
    hold.open();
    advance_until("the retry, then the next", 500ms, [&] { return calls.size() == 3; });
    EXPECT_EQ(calls.all(), (std::vector<std::string>{"a1", "a1", "a2"})) << "its late answer was believed";
}

TEST_F(engine_sequenced, a_lost_shard_starts_nothing_more_and_is_asked_for_again) {
    const gate hold;
    const opens_at_exit opener(hold);
    can.lease = 30s;
    start_sequenced([&](std::span<const std::byte> body, const delivery&) {
        calls.add(std::string(reinterpret_cast<const char*>(body.data()), body.size()));
        hold.arrive();
        return ack;
    });
    deliver("a", "a1");
    deliver("a", "a2");
    hold.arrivals().wait(1, "the call");
    driver().on_extend([](const std::vector<std::uint64_t>& tags) { return tags; });
    driver().on_settle([](const settled_item&) { return error(errc::lease_lost); });
    clock->advance(10s);
    eventually("the loss", [&] { return consuming->stats("orders").leases_lost >= 1; });
    const auto receives = driver().count("receive");
    hold.open();
    eventually("asked again", [&] { return driver().count("receive") > receives; });
    EXPECT_EQ(calls.size(), 1U) << "a message of the lost shard was started";
    driver().on_extend({});
    driver().on_settle({});
    deliver("b", "b1");
    eventually("goes on", [&] { return calls.size() == 2; });
}

TEST_F(engine_sequenced, a_drain_gives_back_what_waits_with_its_history) {
    answers["a1"] = {retry("once")};
    start_sequenced(noting());
    deliver("a", "a1");
    deliver("a", "a2");
    eventually("noted", [&] { return driver().settled().size() == 1; });
    EXPECT_TRUE(consuming->stop(1h).clean());
    const auto kinds = settled_kinds();
    EXPECT_EQ(std::ranges::count(kinds, "a1 release"), 1);
    EXPECT_EQ(std::ranges::count(kinds, "a2 release"), 1);
    for (const auto& each : driver().settled().all()) {
        if (each.body == "a1" && each.kind == settlement_kind::release) {
            EXPECT_EQ(each.past.retries, 1U);
        }
    }
    EXPECT_EQ(driver().unsettled(), 0U);
}

TEST_F(engine_sequenced, a_crowded_key_pauses_the_shard) {
    const gate hold;
    const opens_at_exit opener(hold);
    consumer_options how;
    how.max_pending_per_key = 3;
    start_sequenced(
        [&](std::span<const std::byte>, const delivery&) {
            hold.arrive();
            return ack;
        },
        how);
    for (int i = 0; i < 4; ++i)
        deliver("a", "a" + std::to_string(i));
    hold.arrivals().wait(1, "the call");
    eventually("three wait", [&] { return driver().unsettled() == 4; });
    deliver("b", "b1");
    EXPECT_FALSE(driver().receiving()) << "it fetched on";
    hold.open();
    eventually("all settled", [&] { return driver().settled().size() == 5; });
}

TEST_F(engine_sequenced, reads_no_further_than_there_is_work) {
    const gate hold;
    const opens_at_exit opener(hold);
    consumer_options how;
    how.prefetch = 3;
    start_sequenced(
        [&](std::span<const std::byte>, const delivery&) {
            hold.arrive();
            return ack;
        },
        how.sequential());
    deliver("a", "a0");
    hold.arrivals().wait(1, "the call");
    for (int i = 1; i < 4; ++i) {
        eventually("it reads", [&] { return driver().receiving(); });
        deliver("a", "a" + std::to_string(i));
    }
    eventually("three wait", [&] { return driver().unsettled() == 4; });
    deliver("b", "b1");
    EXPECT_FALSE(driver().receiving()) << "its only call is taken, and there is enough for the next ones";
    hold.open();
    eventually("all settled", [&] { return driver().settled().size() == 5; });
}

TEST_F(engine_sequenced, a_publish_waits_for_the_fate_of_an_earlier_one_of_its_key) {
    recorder<std::string> sent;
    driver().on_publish([&](const spi::publish_request& request) -> std::optional<spi::publish_report> {
        const auto body = request.messages.front().msg.payload();
        const std::string text(reinterpret_cast<const char*>(body.data()), body.size());
        sent.add(text);
        if (text == "a1") return std::nullopt;  // no answer yet
        return spi::publish_report{};
    });
    const auto orders = topic(spec(sequence_failure::skip));
    const auto publish = [&, orders](std::string key, std::string body) {
        return aside([this, orders, key, body] {
            publish_options how;
            how.key = key;
            return broker().publisher().try_publish(orders, body, how).has_value();
        });
    };
    auto first = publish("a", "a1");
    eventually("the first waits for its answer", [&] { return driver().unanswered() == 1; });
    auto second = publish("a", "a2");
    EXPECT_TRUE(publish("b", "b1").get()) << "another key was held up";
    EXPECT_EQ(sent.size(), 2U) << "the second of the key went out";
    driver().answer_the_rest();
    EXPECT_TRUE(second.get());
    EXPECT_FALSE(first.get());
    EXPECT_EQ(sent.all(), (std::vector<std::string>{"a1", "b1", "a2"}));
}

TEST_F(engine_sequenced, a_held_back_publish_is_not_attempted_at_its_timeout) {
    driver().on_publish([](const spi::publish_request&) { return std::optional<spi::publish_report>(); });
    const auto orders = topic(spec(sequence_failure::skip));
    auto first = aside([&] {
        publish_options how;
        how.key = "a";
        how.timeout = 1h;
        return broker().publisher().try_publish(orders, "a1", how).has_value();
    });
    eventually("it waits for its answer", [&] { return driver().unanswered() == 1; });
    auto second = aside([&] {
        using batch_item = publisher<any_backend>::raw_outgoing;
        publish_options how;
        how.key = "a";
        how.timeout = 10s;
        const std::vector<batch_item> one{{"a2", how}};
        return broker().publisher().publish_batch(orders, one).each.front().status;
    });
    advance_until("the timeout", 1s, [&] { return second.wait_for(0ms) == std::future_status::ready; });
    EXPECT_EQ(second.get(), publish_status::not_attempted);
    driver().answer_the_rest();
    EXPECT_FALSE(first.get());
    EXPECT_EQ(driver().count("publish"), 1U);
}

/// A renewal that finds a message settled meanwhile says nothing of the shard.
TEST_F(engine_sequenced, what_was_settled_beside_a_renewal_is_not_lost) {
    can.lease = 30s;
    driver().hold_settles();
    const counter renewals;
    driver().on_extend([renewals](const std::vector<std::uint64_t>& tags) {
        renewals.add();
        return tags;
    });
    start_sequenced(noting());
    deliver("a", "a1");
    eventually("its settlement is with the driver", [&] { return driver().count("settle") == 1; });
    advance_until("a renewal", 1s, [&] { return renewals.value() >= 1; });
    driver().release_settles();
    driver().on_extend({});
    deliver("a", "a2");
    eventually("the next one", [&] { return calls.size() == 2; });
    wait_settled();
    for (const auto& line : said.all())
        EXPECT_EQ(line.find("was lost"), std::string::npos) << line;
    EXPECT_EQ(consuming->stats("orders").leases_lost, 0U);
}

TEST_F(engine_sequenced, a_message_without_a_key_is_refused) {
    const auto sent = broker().publisher().try_publish(topic(spec(sequence_failure::skip)), "body");
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().code, errc::invalid_argument);
    EXPECT_NE(sent.error().message().find("key"), std::string::npos);
}

}  // namespace
}  // namespace shove::test
