#include "engine_fixture.hpp"

namespace shove::test {
namespace {

/// What goes wrong on the driver's side: G1, G7, G8.
class engine_trouble : public engine_test {
protected:
    std::vector<std::string> said_of(std::string_view word) const {
        std::vector<std::string> found;
        for (auto& line : said.all()) {
            if (line.find(word) != std::string::npos) found.push_back(line);
        }
        return found;
    }
};

TEST_F(engine_trouble, failing_dead_letter_write_never_completes_the_source) {
    start(always(reject("bad")), {.handler_timeout = std::nullopt});
    driver().on_settle([](const settled_item& item) {
        return item.kind == settlement_kind::dead_letter ? error(errc::storage_full) : error();
    });
    driver().deliver("precious");
    for (std::size_t attempt = 1; attempt <= 12; ++attempt) {
        driver().refused().wait(attempt, "an attempt");
        ASSERT_TRUE(clock->wait_for_pending(1));
        EXPECT_EQ(driver().refused().size(), attempt) << "tried again without a pause";
        eventually("the next attempt", [&] {
            if (driver().refused().size() == attempt) clock->advance_to_next();
            return driver().refused().size() > attempt;
        });
    }
    EXPECT_EQ(driver().settled().size(), 0U) << "the source was completed";
    EXPECT_EQ(driver().unsettled(), 1U);
    EXPECT_GE(stats().settle_retries, 12U);
    driver().on_settle({});
    advance_until("the end of the trouble", 100ms, [&] { return driver().settled().size() == 1; });
    EXPECT_EQ(driver().settled().all().front().kind, settlement_kind::dead_letter);
    EXPECT_EQ(said_of("will be tried again").size(), 1U) << "said more than once";
}

TEST_F(engine_trouble, settle_backoff_doubles) {
    start(always(ack), {.handler_timeout = std::nullopt});
    driver().on_settle([](const settled_item&) { return error(errc::not_connected); });
    driver().deliver("body");
    driver().refused().wait(1, "the first attempt");
    for (milliseconds most = 50ms; most <= 400ms; most *= 2) {
        ASSERT_TRUE(clock->wait_for_pending(1));
        const auto wait = *clock->next() - clock->now();
        EXPECT_GE(wait, most / 2);
        EXPECT_LE(wait, most);
        const auto before = driver().refused().size();
        clock->advance_to_next();
        driver().refused().wait(before + 1, "the next attempt");
    }
}

TEST_F(engine_trouble, one_failed_settlement_holds_no_other) {
    start(always(ack));
    driver().on_settle(
        [](const settled_item& item) { return item.body == "bad" ? error(errc::not_connected) : error(); });
    driver().deliver("bad");
    for (int i = 0; i < 30; ++i)
        driver().deliver("good");
    driver().settled().wait(30, "the others");
    EXPECT_EQ(driver().unsettled(), 1U);
}

TEST_F(engine_trouble, lost_lease_is_dropped_and_counted) {
    start(always(ack));
    driver().on_settle([](const settled_item&) { return error(errc::lease_lost); });
    driver().deliver("body");
    driver().refused().wait(1, "the refusal");
    eventually("counted", [&] { return stats().leases_lost == 1; });
    clock->advance(1min);
    EXPECT_EQ(driver().refused().size(), 1U) << "tried again";
    EXPECT_EQ(stats().unsettled, 0U);
    EXPECT_EQ(stats().settle_retries, 0U);
}

TEST_F(engine_trouble, receive_errors_back_off_and_resume) {
    driver().fail_receives(error(errc::not_connected, "no broker"), 4);
    start(always(ack), {.handler_timeout = std::nullopt});
    for (std::size_t failed = 1; failed <= 4; ++failed) {
        eventually("a failed receive", [&] { return driver().count("receive") == failed; });
        ASSERT_TRUE(clock->wait_for_pending(1));
        const milliseconds most = 100ms * (1 << (failed - 1));
        const auto wait = *clock->next() - clock->now();
        EXPECT_GE(wait, most / 2);
        EXPECT_LE(wait, most);
        clock->advance_to_next();
    }
    eventually("receiving again", [&] { return driver().receiving(); });
    driver().deliver("body");
    driver().settled().wait(1, "the first message after it");
    EXPECT_EQ(said_of("no broker").size(), 1U) << "said more than once";
    EXPECT_EQ(said_of("again").size(), 1U) << "the recovery is said once";
}

TEST_F(engine_trouble, receive_backoff_is_bounded_and_reset) {
    driver().fail_receives(error(errc::connection_lost), 30);
    start(always(ack), {.handler_timeout = std::nullopt});
    eventually("a waiting receive", [&] {
        clock->advance_to_next();
        return driver().receiving();
    });
    driver().deliver("body");
    driver().settled().wait(1, "a message");
    driver().fail_receives(error(errc::connection_lost), 1);
    const auto before = driver().count("receive");
    driver().deliver("another");
    driver().settled().wait(2, "the second message");
    eventually("a failed receive", [&] { return driver().count("receive") > before; });
    ASSERT_TRUE(clock->wait_for_pending(1));
    EXPECT_LE(*clock->next() - clock->now(), 100ms) << "the backoff was not reset";
}

TEST_F(engine_trouble, subscribing_is_tried_again) {
    const counter tries;
    driver().on_subscribe(
        [tries](const spi::source&) { return tries.add() < 4 ? error(errc::not_connected) : error(); });
    auto starting = aside([&] { start(always(ack)); });
    advance_until("the subscription", 50ms, [&] { return driver().receiving(); });
    starting.get();
    EXPECT_EQ(tries.value(), 4U);
    driver().deliver("body");
    driver().settled().wait(1, "the message");
}

TEST_F(engine_trouble, subscribing_that_cannot_succeed_is_thrown) {
    driver().on_subscribe([](const spi::source&) { return error(errc::version_mismatch, "too new"); });
    auto group = broker().consumer_group();
    group.add(topic(), always(ack));
    try {
        group.start();
        ADD_FAILURE() << "it started";
    } catch (const exception& e) {
        EXPECT_EQ(e.cause(), errc::version_mismatch);
        EXPECT_NE(std::string(e.what()).find("too new"), std::string::npos);
    }
    EXPECT_EQ(driver().count("subscribe"), 1U);
}

TEST_F(engine_trouble, declaring_that_fails_is_thrown) {
    driver().on_declare([](const queue_topology&) { return error(errc::topology_mismatch, "other settings"); });
    auto group = broker().consumer_group();
    group.add(topic(), always(ack));
    EXPECT_THROW(group.start(), exception);
    EXPECT_EQ(driver().count("subscribe"), 0U);
}

// --- leases: G7 ----------------------------------------------------------------------------------

class engine_leases : public engine_test {
protected:
    void SetUp() override { can.lease = 30s; }
};

TEST_F(engine_leases, renewed_every_third_while_held) {
    const gate hold;
    const recorder<std::vector<std::uint64_t>> renewed;
    driver().on_extend([renewed](const auto& tags) {
        renewed.add(tags);
        return std::vector<std::uint64_t>();
    });
    start(
        [hold](std::span<const std::byte>, const delivery&) {
            hold.arrive();
            return ack;
        },
        consumer_options{.handler_timeout = std::nullopt}.sequential());
    const opens_at_exit opener(hold);
    const auto first = driver().deliver(std::vector<std::string>{"running", "in the buffer"});
    hold.arrivals().wait(1, "the call");
    for (std::size_t third = 1; third <= 4; ++third) {
        clock->advance(9'900ms);
        EXPECT_EQ(renewed.size(), third - 1) << "too early";
        clock->advance(100ms);
        auto tags = renewed.wait(third, "a renewal").back();
        std::ranges::sort(tags);
        EXPECT_EQ(tags, (std::vector<std::uint64_t>{first, first + 1}));
    }
    hold.open();
    wait_settled();
    eventually("nothing held", [&] { return stats().unsettled == 0; });
    const auto before = renewed.size();
    clock->advance(1min);
    EXPECT_EQ(renewed.size(), before) << "renewed what is settled";
}

TEST_F(engine_leases, settlement_that_waits_is_renewed) {
    const recorder<std::vector<std::uint64_t>> renewed;
    driver().on_extend([renewed](const auto& tags) {
        renewed.add(tags);
        return std::vector<std::uint64_t>();
    });
    driver().on_settle([](const settled_item&) { return error(errc::not_connected); });
    start(always(ack));
    const auto tag = driver().deliver("body");
    driver().refused().wait(1, "an attempt");
    advance_until("a renewal", 1s, [&] { return renewed.size() > 0; });
    EXPECT_EQ(renewed.all().front(), std::vector<std::uint64_t>{tag});
}

TEST_F(engine_leases, settlement_with_the_driver_is_renewed) {
    const recorder<std::vector<std::uint64_t>> renewed;
    driver().on_extend([renewed](const auto& tags) {
        renewed.add(tags);
        return std::vector<std::uint64_t>();
    });
    driver().hold_settles();
    start(always(ack));
    const auto tag = driver().deliver("body");
    driver().batches().wait(1, "the settle");
    advance_until("a renewal", 1s, [&] { return renewed.size() > 0; });
    EXPECT_EQ(renewed.all().front(), std::vector<std::uint64_t>{tag});
    driver().release_settles();
}

/// What was settled while the renewal was under way is not the driver's any more, but nobody lost it.
TEST_F(engine_leases, settled_ones_are_not_called_lost) {
    const gate hold;
    start(
        [hold](std::span<const std::byte>, const delivery&) {
            hold.arrive();
            return ack;
        },
        {.handler_timeout = std::nullopt});
    const opens_at_exit opener(hold);
    driver().on_extend([&](const auto& tags) {
        hold.open();
        driver().settled().wait(1, "the settlement in the middle of the renewal");
        return tags;
    });
    driver().deliver("body");
    hold.arrivals().wait(1, "the call");
    clock->advance(10s);
    eventually("nothing held", [&] { return stats().unsettled == 0; });
    EXPECT_EQ(stats().leases_lost, 0U);
    for (const auto& line : said.all())
        EXPECT_EQ(line.find("lost"), std::string::npos) << line;
}

TEST_F(engine_leases, lost_ones_are_dropped_and_told) {
    const gate hold;
    const counter told;
    start(
        [hold, told](std::span<const std::byte>, const delivery& info) {
            const std::stop_callback tell(info.stop_token(), [&] { told.add(); });
            hold.arrive();
            return ack;
        },
        consumer_options{.handler_timeout = std::nullopt}.sequential());
    const opens_at_exit opener(hold);
    driver().on_extend([](const auto& tags) { return tags; });
    driver().on_settle([](const settled_item&) { return error(errc::lease_lost); });
    driver().deliver(std::vector<std::string>{"running", "in the buffer"});
    hold.arrivals().wait(1, "the call");
    clock->advance(10s);
    told.wait(1, "the stop token");
    eventually("the buffered one is dropped", [&] { return stats().unsettled == 1; });
    hold.open();
    eventually("the running one, too", [&] { return stats().unsettled == 0; });
    EXPECT_EQ(stats().leases_lost, 2U);
    EXPECT_EQ(hold.arrivals().value(), 1U) << "a lost delivery was handled";
    driver().on_extend({});
}

}  // namespace
}  // namespace shove::test
