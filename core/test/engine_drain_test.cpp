#include "engine_fixture.hpp"

namespace shove::test {
namespace {

class engine_drain : public engine_test {
protected:
    gate hold;
    /// Holds calls of `held` at the gate.
    detail::raw_function holding() {
        return [hold = hold](std::span<const std::byte> body, const delivery&) {
            if (text_of(body) == "held") hold.arrive();
            return ack;
        };
    }
    std::vector<std::string> log_after(std::size_t from) {
        auto lines = driver().log().all();
        return {lines.begin() + static_cast<std::ptrdiff_t>(from), lines.end()};
    }
};

TEST_F(engine_drain, cancels_releases_settles_closes) {
    start(holding(), consumer_options{.prefetch = 10, .handler_timeout = std::nullopt}.sequential());
    const opens_at_exit opener(hold);
    driver().deliver(std::vector<std::string>{"held", "a", "b", "c"});
    hold.arrivals().wait(1, "the call");
    eventually("receiving for the rest of its room", [&] { return driver().receiving(); });
    const auto before = driver().log().size();
    auto stopping = stop_aside(10s);
    driver().settled().wait(3, "what was not started");
    EXPECT_EQ(log_after(before), (std::vector<std::string>{"cancel_receive", "settle 3"}));
    for (const auto& item : driver().settled().all()) {
        EXPECT_EQ(item.kind, settlement_kind::release);
        EXPECT_EQ(item.past.retries, 0U);
    }
    EXPECT_FALSE(hold.is_open());
    hold.open();
    const auto ended = stopping.get();
    EXPECT_TRUE(ended.clean());
    EXPECT_EQ(log_after(before),
              (std::vector<std::string>{"cancel_receive", "settle 3", "settle 1", "close_subscription"}));
    EXPECT_EQ(driver().settled().all().back().kind, settlement_kind::complete);
    EXPECT_EQ(stats().released, 3U);
    EXPECT_EQ(driver().unsettled(), 0U);
}

TEST_F(engine_drain, deliveries_that_arrive_late_are_released) {
    start(holding(), consumer_options{.handler_timeout = std::nullopt}.sequential());
    const opens_at_exit opener(hold);
    driver().hold_settles();
    driver().deliver("held");
    hold.arrivals().wait(1, "the call");
    auto stopping = stop_aside(1h);
    eventually("the drain has begun", [&] { return driver().count("cancel_receive") == 1; });
    driver().deliver("late");
    driver().release_settles();
    hold.open();
    EXPECT_TRUE(stopping.get().clean());
    EXPECT_EQ(driver().settled().size(), 1U);
}

TEST_F(engine_drain, begins_while_a_receive_is_being_asked_for) {
    const gate asking;
    const opens_at_exit opener(asking);
    std::atomic<bool> first{true};
    driver().on_receive([&] {
        if (first.exchange(false)) asking.arrive();
    });
    group_for(always(ack));
    auto starting = aside([&] {
        group().start();
        return true;
    });
    asking.arrivals().wait(1, "the receive");
    auto stopping = stop_aside(1h);
    EXPECT_EQ(stopping.wait_for(10ms), std::future_status::timeout) << "the receive has not returned";
    asking.open();
    EXPECT_TRUE(stopping.get().clean());
    EXPECT_TRUE(starting.get());
}

TEST_F(engine_drain, settles_before_closing_though_it_fails_at_first) {
    driver().on_settle([](const settled_item&) { return error(errc::not_connected); });
    start(always(ack));
    driver().deliver("body");
    driver().refused().wait(1, "a failed settlement");
    auto stopping = stop_aside(1h);
    eventually("the drain has begun", [&] { return driver().count("cancel_receive") == 1; });
    EXPECT_EQ(driver().count("close_subscription"), 0U);
    driver().on_settle({});
    advance_until("the settlement", 10ms, [&] { return driver().settled().size() == 1; });
    EXPECT_TRUE(stopping.get().clean());
    EXPECT_EQ(driver().log().all().back(), "close_subscription");
}

TEST_F(engine_drain, ends_at_the_deadline_though_the_driver_never_answers) {
    driver().hold_settles();
    start(always(ack));
    driver().deliver("body");
    driver().batches().wait(1, "the settle");
    auto stopping = stop_aside(30s);
    eventually("the drain has begun", [&] { return driver().count("cancel_receive") == 1; });
    ASSERT_TRUE(clock->wait_for_pending(1));
    EXPECT_EQ(stopping.wait_for(10ms), std::future_status::timeout);
    advance_until("the end", 1s, [&] { return stopping.wait_for(0ms) == std::future_status::ready; });
    const auto ended = stopping.get();
    EXPECT_TRUE(ended.timed_out);
    EXPECT_EQ(ended.exit_code(), 3);
    EXPECT_EQ(ended.left, 1U);
    EXPECT_TRUE(ended.stuck.empty()) << "no handler runs";
}

TEST_F(engine_drain, stuck_calls_are_listed_with_their_time) {
    start(holding(), {.handler_timeout = std::nullopt});
    const opens_at_exit opener(hold);
    driver().deliver("held");
    hold.arrivals().wait(1, "the call");
    clock->advance(7s);
    auto stopping = stop_aside(0ms);
    advance_until("the end", 0ms, [&] { return stopping.wait_for(1ms) == std::future_status::ready; });
    const auto ended = stopping.get();
    ASSERT_EQ(ended.stuck.size(), 1U);
    EXPECT_EQ(ended.stuck.front().queue, "orders");
    EXPECT_EQ(ended.stuck.front().message_id, "held");
    EXPECT_EQ(ended.stuck.front().running, 7s);
}

TEST_F(engine_drain, leases_are_renewed_until_the_end) {
    can.lease = 30s;
    start(holding(), {.handler_timeout = std::nullopt});
    const opens_at_exit opener(hold);
    driver().deliver("held");
    hold.arrivals().wait(1, "the call");
    auto stopping = stop_aside(1h);
    eventually("the drain has begun", [&] { return driver().count("cancel_receive") == 1; });
    clock->advance(10s);
    eventually("a renewal", [&] { return driver().count("extend") == 1; });
    hold.open();
    EXPECT_TRUE(stopping.get().clean());
    clock->advance(1min);
    EXPECT_EQ(driver().count("extend"), 1U) << "renewed after the end";
}

TEST_F(engine_drain, broker_close_drains_then_closes) {
    start(holding(), {.handler_timeout = std::nullopt});
    const opens_at_exit opener(hold);
    driver().deliver("held");
    hold.arrivals().wait(1, "the call");
    auto closing = aside([&] { return broker().close(1h).has_value(); });
    eventually("the drain has begun", [&] { return driver().count("cancel_receive") == 1; });
    EXPECT_EQ(driver().count("close"), 0U);
    hold.open();
    EXPECT_TRUE(closing.get());
    const auto lines = driver().log().all();
    EXPECT_EQ(lines.back(), "close");
    EXPECT_EQ(lines[lines.size() - 2], "close_subscription");
    EXPECT_TRUE(broker().close(1s));
    EXPECT_EQ(driver().count("close"), 1U) << "closed twice";
}

TEST_F(engine_drain, broker_close_ends_at_its_deadline) {
    driver().on_close([] { return std::optional<error>(); });
    auto closing = aside([&] { return broker().close(5s); });
    eventually("the close", [&] { return driver().count("close") == 1; });
    advance_until("the end", 1s, [&] { return closing.wait_for(1ms) == std::future_status::ready; });
    const auto ended = closing.get();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error(), errc::timed_out);
}

TEST_F(engine_drain, ping_ends_at_its_deadline) {
    driver().on_ping([] { return std::optional<error>(); });
    auto pinging = aside([&] { return broker().ping(5s); });
    eventually("the ping", [&] { return driver().count("ping") == 1; });
    advance_until("the end", 1s, [&] { return pinging.wait_for(1ms) == std::future_status::ready; });
    const auto ended = pinging.get();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error(), errc::timed_out);
}

TEST_F(engine_drain, ping_passes_the_drivers_error_on) {
    driver().on_ping([] { return std::optional(error(errc::not_connected, "no route")); });
    const auto ended = broker().ping(5s);
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error(), errc::not_connected);
    EXPECT_EQ(clock->pending(), 0U) << "a timer was left behind";
}

TEST_F(engine_drain, publish_without_an_answer_is_unknown_at_its_timeout) {
    driver().on_publish([](const spi::publish_request&) { return std::optional<spi::publish_report>(); });
    publish_options how;
    how.timeout = 5s;
    const std::vector<shove::publisher<any_backend>::raw_outgoing> batch{{"a", how}, {"b", {}}};
    auto publishing = aside([&] { return broker().publisher().publish_batch(topic(), batch); });
    eventually("the publish", [&] { return driver().count("publish") == 1; });
    advance_until("the end", 1s, [&] { return publishing.wait_for(1ms) == std::future_status::ready; });
    const auto report = publishing.get();
    EXPECT_EQ(report.count(publish_status::unknown), 2U) << "it may have been stored";
    EXPECT_EQ(report.first_error(), errc::timed_out);
    EXPECT_EQ(report.to_republish().size(), 2U);
}

TEST_F(engine_drain, publish_reports_what_the_driver_says) {
    driver().on_publish([](const spi::publish_request& request) {
        spi::publish_report report;
        for (std::size_t i = 0; i < request.messages.size(); ++i) {
            report.each.push_back(i == 1 ? spi::publish_result{publish_status::failed, error(errc::unroutable)}
                                  : i == 2
                                      ? spi::publish_result{publish_status::not_attempted, error(errc::not_attempted)}
                                      : spi::publish_result{});
        }
        return std::optional(report);
    });
    const std::vector<shove::publisher<any_backend>::raw_outgoing> batch{{"a", {}}, {"b", {}}, {"c", {}}};
    const auto report = broker().publisher().publish_batch(topic(), batch);
    EXPECT_EQ(report.each[0].status, publish_status::ok);
    EXPECT_EQ(report.each[1].status, publish_status::failed);
    EXPECT_EQ(report.each[2].status, publish_status::not_attempted);
    EXPECT_EQ(report.first_error(), errc::unroutable);
    EXPECT_EQ(clock->pending(), 0U) << "a timer was left behind";
}

}  // namespace
}  // namespace shove::test
