#include "engine_fixture.hpp"

// Subscribers of broadcasts, and readers of their own: what the engine makes of them.
namespace shove::test {
namespace {

class engine_broadcast : public engine_test {
protected:
    engine_broadcast() {
        can.broadcast = true;
        can.reader_groups = true;
        can.any_delay = true;
    }
    runtime_topic news = topic(shove::topology("news").broadcast());

    any_group listen(detail::raw_function handler, consumer_options how = {}) {
        auto made = broker().consumer_group();
        made.add_broadcast(news, std::move(handler), {}, std::move(how));
        made.start();
        return made;
    }
    bool said_both(std::string_view a, std::string_view b) const {
        const auto all = said.all();
        return std::ranges::any_of(
            all, [&](const std::string& line) { return line.find(a) != line.npos && line.find(b) != line.npos; });
    }
};

TEST_F(engine_broadcast, forces_one_consumer_with_one_message) {
    const recorder<std::pair<std::size_t, bool>> seen;
    driver().on_subscribe([seen](const spi::source& from) {
        seen.add({from.prefetch, from.broadcast == broadcast_start::tail()});
        return error();
    });
    auto made = listen(always(ack), {.consumers = {3, 5}, .prefetch = 50, .max_retries = 7});
    EXPECT_EQ(seen.all(), (std::vector{std::pair(std::size_t{1}, true)}));
    driver().deliver({"a", "b", "c"});
    wait_settled();
    eventually("all are handled", [&] { return made.stats("news").acked == 3; });
    EXPECT_EQ(made.stats("news").consumers, 1U);
    (void)made.stop(1h);
}

TEST_F(engine_broadcast, a_deferred_message_waits_in_place_for_a_second) {
    const recorder<std::string> calls;
    const recorder<bool> redelivered;
    auto made = listen([=](std::span<const std::byte> body, const delivery& info) {
        redelivered.add(info.redelivered());
        return calls.add(text_of(body)) == 1 ? defer : ack;
    });
    driver().deliver(std::vector<std::string>{"a", "b"});
    calls.wait(1, "a call");
    eventually("it is deferred", [&] { return made.stats("news").deferred == 1; });
    clock->advance(999ms);
    EXPECT_EQ(calls.size(), 1U);
    EXPECT_EQ(driver().settled().size(), 0U) << "it stays with the subscriber";
    advance_until("the others", 1ms, [&] { return calls.size() == 3; });
    EXPECT_EQ(calls.all(), (std::vector<std::string>{"a", "a", "b"}));
    EXPECT_EQ(redelivered.all(), (std::vector{false, true, false}));
    wait_settled();
    (void)made.stop(1h);
}

TEST_F(engine_broadcast, a_deferred_message_keeps_its_lease) {
    can.lease = 300ms;
    const recorder<std::vector<std::uint64_t>> renewed;
    driver().on_extend([renewed](const std::vector<std::uint64_t>& tags) {
        renewed.add(tags);
        return std::vector<std::uint64_t>();
    });
    auto made = listen(always(defer));
    const auto tag = driver().deliver("a");
    eventually("it is deferred", [&] { return made.stats("news").deferred == 1; });
    clock->advance(100ms);
    EXPECT_EQ(renewed.wait(1, "a renewal").front(), std::vector{tag});
    (void)made.stop(1h);
}

TEST_F(engine_broadcast, a_drain_gives_a_deferred_message_back_at_once) {
    auto made = listen(always(defer));
    driver().deliver("a");
    eventually("it is deferred", [&] { return made.stats("news").deferred == 1; });
    EXPECT_TRUE(made.stop(1h).clean());
    ASSERT_EQ(driver().settled().size(), 1U);
    EXPECT_EQ(driver().settled().all().front().kind, settlement_kind::release);
}

TEST_F(engine_broadcast, a_failure_is_discarded_with_its_reason) {
    auto made = listen([](std::span<const std::byte> body, const delivery&) -> outcome {
        if (text_of(body) == "thrown") throw std::runtime_error("it broke");
        return text_of(body) == "rejected" ? reject("no use") : retry("not now");
    });
    driver().deliver({"rejected", "retried", "thrown"});
    wait_settled();
    eventually("all are discarded", [&] { return made.stats("news").discarded == 3; });
    for (const auto& each : driver().settled().all())
        EXPECT_EQ(each.kind, settlement_kind::complete) << each.body;
    EXPECT_TRUE(said_both("'news' was discarded", "rejected: no use"));
    EXPECT_TRUE(said_both("'news' was discarded", "max_retries_exceeded: not now"));
    EXPECT_TRUE(said_both("'news' was discarded", "max_retries_exceeded: it broke"));
    (void)made.stop(1h);
}

TEST_F(engine_broadcast, a_stuck_handler_holds_the_next_message_up) {
    const gate hold;
    const recorder<std::string> calls;
    auto made = listen(
        [=](std::span<const std::byte> body, const delivery&) {
            if (calls.add(text_of(body)) == 1) hold.arrive();
            return ack;
        },
        {.handler_timeout = 100ms, .timeout_grace = 50ms});
    const opens_at_exit opener(hold);
    driver().deliver(std::vector<std::string>{"a", "b"});
    calls.wait(1, "a call");
    advance_until("it is given up", 10ms, [&] { return made.stats("news").discarded == 1; });
    EXPECT_EQ(calls.size(), 1U) << "one at a time, whatever happens";
    hold.open();
    calls.wait(2, "the next one");
    EXPECT_TRUE(said_both("'news' was discarded", "max_retries_exceeded: timed out"));
    (void)made.stop(1h);
}

TEST_F(engine_broadcast, a_reader_group_reads_from_a_place_of_its_own) {
    const auto audit = topic(shove::topology("orders").for_consumer_group("audit").dlq());
    auto made = broker().consumer_group();
    const recorder<std::string> queues;
    const auto note = [queues](std::span<const std::byte>, const delivery& info) {
        queues.add(std::string(info.queue()));
        return reject;
    };
    made.add(topic(), note).add(audit, note).start();
    driver().deliver_to("orders-audit", "a");
    wait_settled();
    EXPECT_EQ(queues.wait(1, "a call").front(), "orders-audit");
    EXPECT_EQ(made.stats("orders-audit").dead_lettered, 1U);
    EXPECT_EQ(made.stats("orders").calls, 0U);
    EXPECT_EQ(driver().settled().all().front().past.original_queue, "orders-audit");
    (void)made.stop(1h);
}

}  // namespace
}  // namespace shove::test
