#include <shove/async.hpp>

#include "engine_fixture.hpp"

namespace shove::test {
namespace {

using action = scale_decision::action;
using depth_answer = std::optional<result<spi::queue_depth>>;

struct note {
    int number = 0;
};
BOOST_DESCRIBE_STRUCT(note, (), (number))

struct notes : shove::topic<note> {
    static constexpr auto topology = shove::topology("notes");
};

/// A coroutine whose call takes three seconds.
struct three_seconds {
    std::shared_ptr<testkit::manual_clock> clock;

    boost::asio::awaitable<outcome> operator()(note) const {
        clock->advance(3s);
        co_return ack;
    }
};

/// Wishes what a test says.
class told_strategy final : public scaling_strategy {
public:
    std::atomic<action> wish{action::hold};
    std::atomic<bool> throws{false};
    scale_decision decide(const scale_snapshot&) override {
        if (throws) throw std::runtime_error("cannot decide");
        return {wish, 1, "told so"};
    }
};

class engine_scaling : public engine_test {
protected:
    recorder<scale_report> reports;
    std::shared_ptr<std::atomic<std::uint64_t>> ready = std::make_shared<std::atomic<std::uint64_t>>(0);
    std::shared_ptr<told_strategy> told = std::make_shared<told_strategy>();

    autoscaler_options reporting() {
        autoscaler_options how;
        how.on_decision = [reports = reports](const scale_report& what) { reports.add(what); };
        return how;
    }
    /// As a strategy that wishes what the test says, followed at each poll.
    autoscaler_options at_once() {
        auto how = reporting();
        how.strategy = told;
        how.hysteresis = 0ms;
        how.cooldown = 5s;
        return how;
    }
    void start_scaled(detail::raw_function handler, const consumer_options& how, const autoscaler_options& scaling) {
        driver().on_depth([ready = ready](const std::string&) {
            spi::queue_depth found;
            found.ready = *ready;
            return depth_answer(found);
        });
        group_for(std::move(handler), how);
        group().enable_autoscaling(scaling);
        group().start();
    }
    /// Lets the time of one poll pass; gives what was decided.
    scale_report poll() {
        const auto before = reports.size();
        clock->advance(5s);
        return reports.wait(before + 1, "a report").back();
    }
    scale_report poll(action wish) {
        told->wish = wish;
        return poll();
    }
};

TEST_F(engine_scaling, starts_with_the_minimum_and_adds_one_per_cooldown) {
    *ready = 1'000;
    start_scaled(always(ack), {.consumers = {1, 3}}, reporting());
    EXPECT_EQ(driver().count("subscribe"), 1U);
    EXPECT_EQ(poll().decision.what, action::hold) << "seen for the first time";
    EXPECT_EQ(poll().decision.what, action::hold) << "5 s of 10";
    const auto first = poll();
    EXPECT_EQ(first.decision.what, action::up);
    EXPECT_EQ(first.changed, 1U);
    EXPECT_EQ(first.seen.ready, 1'000U);
    EXPECT_EQ(first.seen.consumers, 1U);
    EXPECT_EQ(driver().count("subscribe"), 2U);
    for (int i = 0; i < 5; ++i)
        EXPECT_EQ(poll().decision.what, action::hold) << "the cooldown";
    EXPECT_EQ(poll().changed, 1U);
    EXPECT_EQ(stats().consumers, 3U);
    for (int i = 0; i < 10; ++i)
        EXPECT_EQ(poll().changed, 0U) << "over the maximum";
    EXPECT_NE(poll().decision.reason.find("maximum of 3"), std::string::npos);
    EXPECT_EQ(driver().count("subscribe"), 3U);
}

TEST_F(engine_scaling, takes_idle_ones_away_down_to_the_minimum) {
    start_scaled(always(ack), {.consumers = {1, 3}}, at_once());
    EXPECT_EQ(poll(action::up).changed, 1U);
    EXPECT_EQ(poll(action::up).changed, 1U);
    EXPECT_EQ(stats().consumers, 3U);
    EXPECT_EQ(poll(action::down).changed, 1U);
    EXPECT_EQ(poll(action::down).changed, 1U);
    EXPECT_EQ(poll(action::down).changed, 0U);
    EXPECT_EQ(stats().consumers, 1U);
    eventually("two are closed", [&] { return driver().count("close_subscription") == 2; });
    EXPECT_EQ(poll(action::up).changed, 1U) << "and up again";
    const auto ended = group().stop(1h);
    EXPECT_TRUE(ended.clean());
    EXPECT_EQ(driver().count("close_subscription"), 4U);
}

TEST_F(engine_scaling, a_busy_consumer_is_never_stopped) {
    const gate first;
    const gate second;
    start_scaled(
        [first, second](std::span<const std::byte> body, const delivery&) {
            (text_of(body) == "first" ? first : second).arrive();
            return ack;
        },
        {.consumers = {1, 2}, .prefetch = 1, .handler_timeout = std::nullopt}, at_once());
    const opens_at_exit opens_first(first);
    const opens_at_exit opens_second(second);
    EXPECT_EQ(poll(action::up).changed, 1U);
    eventually("both receive", [&] { return driver().count("receive") == 2; });
    driver().deliver("first");
    driver().deliver("second");
    first.arrivals().wait(1, "the first call");
    second.arrivals().wait(1, "the second call");
    const auto refused = poll(action::down);
    EXPECT_EQ(refused.changed, 0U);
    EXPECT_EQ(refused.seen.busy, 2U);
    EXPECT_EQ(refused.seen.in_flight, 2U);
    EXPECT_NE(refused.decision.reason.find("busy"), std::string::npos);
    first.open();
    driver().settled().wait(1, "the first message");
    eventually("one is idle", [&] { return stats().unsettled == 1; });
    EXPECT_EQ(poll(action::down).changed, 1U);
    eventually("the idle one is closed", [&] { return driver().count("close_subscription") == 1; });
    EXPECT_EQ(stats().running, 1U) << "the older consumer was idle, the younger busy";
    EXPECT_EQ(stats().acked, 1U) << "the counts of the one that went stay";
    second.open();
    driver().settled().wait(2, "the second message");
    const auto ended = group().stop(1h);
    EXPECT_TRUE(ended.clean());
    EXPECT_EQ(stats().acked, 2U);
    EXPECT_EQ(stats().received, 2U);
}

TEST_F(engine_scaling, work_in_flight_is_backlog) {
    const gate hold;
    start_scaled(
        [hold](std::span<const std::byte>, const delivery&) {
            hold.arrive();
            return ack;
        },
        {.consumers = {1, 2}, .prefetch = 2, .handler_timeout = std::nullopt}, reporting());
    const opens_at_exit opener(hold);
    driver().deliver(std::vector<std::string>{"a", "b"});
    hold.arrivals().wait(2, "the calls");
    *ready = 3;  // 3 + 2 are more than twice the prefetch of 2
    (void)poll();
    (void)poll();
    EXPECT_EQ(poll().decision.what, action::up);
}

TEST_F(engine_scaling, measures_how_long_calls_take) {
    const auto with = clock;
    start_scaled(
        [with](std::span<const std::byte>, const delivery&) {
            with->advance(2s);
            return ack;
        },
        consumer_options{.consumers = {1, 2}, .prefetch = 4}.sequential(), at_once());
    EXPECT_FALSE(poll().seen.service_time) << "no call yet";
    driver().deliver("a");
    driver().deliver("b");
    driver().settled().wait(2, "the messages");
    const auto seen = poll().seen;
    EXPECT_EQ(seen.service_time, 2s);
    EXPECT_EQ(seen.calls_at_once, 1U);
    EXPECT_EQ(seen.prefetch, 4U);
}

TEST_F(engine_scaling, measures_coroutines_too) {
    auto made = broker().consumer_group();
    made.add_each<notes>([with = clock] { return three_seconds{with}; }, {.consumers = {1, 2}, .prefetch = 20});
    made.enable_autoscaling(at_once());
    made.start();
    driver().deliver("{\"number\":1}");
    driver().settled().wait(1, "the message");
    const auto seen = poll().seen;
    EXPECT_EQ(seen.service_time, 3s);
    EXPECT_EQ(seen.calls_at_once, 20U) << "coroutines need no thread";
    EXPECT_TRUE(made.stop(1h).clean());
}

TEST_F(engine_scaling, a_depth_that_fails_changes_nothing_and_is_said_once) {
    start_scaled(always(ack), {.consumers = {1, 2}}, reporting());
    driver().on_depth([](const std::string&) { return depth_answer(error(errc::not_connected, "no route")); });
    for (int i = 0; i < 4; ++i) {
        const auto report = poll();
        EXPECT_EQ(report.decision.what, action::hold);
        EXPECT_NE(report.decision.reason.find("no route"), std::string::npos);
    }
    std::size_t lines = 0;
    for (const auto& line : said.all())
        lines += line.find("no route") != std::string::npos ? 1 : 0;
    EXPECT_EQ(lines, 1U);
    driver().on_depth([](const std::string&) { return much(); });
    EXPECT_EQ(poll().decision.what, action::hold);
    EXPECT_EQ(poll().decision.what, action::hold);
    EXPECT_EQ(poll().decision.what, action::up);
}

TEST_F(engine_scaling, a_depth_that_never_comes_holds_nothing_up) {
    start_scaled(always(ack), {.consumers = {1, 2}}, reporting());
    driver().on_depth([](const std::string&) { return depth_answer(); });
    clock->advance(5s);
    eventually("the question", [&] { return driver().count("depth") == 1; });
    EXPECT_NE(poll().decision.reason.find("not been told"), std::string::npos);
    EXPECT_EQ(driver().count("depth"), 1U) << "asked twice at a time";
    EXPECT_TRUE(group().stop(1h).clean());
}

TEST_F(engine_scaling, ends_before_all_else_at_a_drain) {
    const gate hold;
    start_scaled(
        [hold](std::span<const std::byte>, const delivery&) {
            hold.arrive();
            return ack;
        },
        {.consumers = {1, 4}, .handler_timeout = std::nullopt}, at_once());
    const opens_at_exit opener(hold);
    driver().deliver("held");
    hold.arrivals().wait(1, "the call");
    told->wish = action::up;
    auto stopping = stop_aside(1h);
    eventually("the drain has begun", [&] { return driver().count("cancel_receive") == 1; });
    clock->advance(1min);
    hold.open();
    EXPECT_TRUE(stopping.get().clean());
    EXPECT_EQ(driver().count("subscribe"), 1U);
    EXPECT_EQ(reports.size(), 0U);
}

TEST_F(engine_scaling, code_of_the_users_may_throw) {
    auto how = at_once();
    how.on_decision = [reports = reports](const scale_report& what) {
        reports.add(what);
        throw std::runtime_error("cannot listen");
    };
    start_scaled(always(ack), {.consumers = {1, 4}}, how);
    told->throws = true;
    EXPECT_NE(poll().decision.reason.find("cannot decide"), std::string::npos);
    told->throws = false;
    EXPECT_EQ(poll(action::up).changed, 1U);
    eventually("it was said", [&] {
        const auto lines = said.all();
        return std::ranges::any_of(lines, [](auto& l) { return l.find("cannot listen") != std::string::npos; });
    });
}

TEST_F(engine_scaling, a_fixed_number_is_left_alone) {
    start_scaled(always(ack), {.consumers = 2}, reporting());
    clock->advance(10min);
    EXPECT_EQ(driver().count("depth"), 0U);
    EXPECT_EQ(clock->pending(), 0U);
}

/// Two shards, each read by one consumer.
class engine_scaling_shards : public engine_scaling {
protected:
    gate hold;
    opens_at_exit opener{hold};
    std::optional<any_group> consuming;

    engine_scaling_shards() { can.key_order = true; }
    void start_shards(consumer_range range) {
        consuming.emplace(broker().consumer_group());
        consuming->add(
            topic(shove::topology("orders").hold(1s).dlq().sequenced(sequence_failure::skip).routing_shards(2)),
            [hold = hold](std::span<const std::byte>, const delivery&) {
                hold.arrive();
                return ack;
            },
            {.consumers = range, .prefetch = 4, .handler_timeout = std::nullopt});
        consuming->enable_autoscaling(at_once());
        consuming->start();
    }
    /// Delivers messages of as many keys, so that none waits for another.
    void deliver(int n) {
        for (int i = 0; i < n; ++i) {
            const auto key = std::to_string(next_++);
            message_parts parts;
            parts.id = key;
            parts.key = key;
            spi::delivery one;
            one.msg = message::make(parts);
            driver().deliver(std::move(one));
        }
    }
    std::uint64_t running() const { return consuming->stats("orders").running; }
    void TearDown() override {
        hold.open();
        EXPECT_TRUE(!consuming || consuming->stop(1h).clean());
        consuming.reset();
        engine_scaling::TearDown();
    }

private:
    int next_ = 0;
};

TEST_F(engine_scaling_shards, more_calls_at_once_and_never_more_readers) {
    start_shards({1, 2});
    deliver(64);
    hold.arrivals().wait(4, "as many calls as one consumer makes");
    auto first = poll(action::hold);
    EXPECT_EQ(running(), 4U) << "two of each shard";
    EXPECT_EQ(first.seen.consumers, 1U);
    EXPECT_EQ(first.seen.busy, 1U);
    EXPECT_EQ(first.seen.min, 1U);
    EXPECT_EQ(first.seen.max, 2U);
    EXPECT_EQ(poll(action::up).changed, 1U);
    hold.arrivals().wait(8, "as many calls as two consumers make");
    EXPECT_EQ(running(), 8U);
    EXPECT_EQ(poll(action::up).changed, 0U) << "over the maximum";
    EXPECT_EQ(driver().count("subscribe"), 2U) << "one reader per shard";
    const auto busy = poll(action::down);
    EXPECT_EQ(busy.seen.busy, 2U);
    EXPECT_EQ(busy.changed, 0U) << "both are busy";
    hold.open();
    wait_settled();
    eventually("no call runs", [&] { return running() == 0; });
    EXPECT_EQ(poll(action::down).changed, 1U);
    EXPECT_EQ(poll(action::down).changed, 0U) << "under the minimum";
}

TEST_F(engine_scaling_shards, the_backlog_is_that_of_all_shards) {
    recorder<std::string> asked;
    driver().on_depth([asked](const std::string& queue) {
        asked.add(queue);
        return much();
    });
    start_shards({1, 2});
    EXPECT_EQ(poll(action::hold).seen.ready, 2'000U);
    auto names = asked.all();
    std::ranges::sort(names);
    EXPECT_EQ(names, (std::vector<std::string>{"orders-seq-0", "orders-seq-1"}));
    driver().on_depth([](const std::string& queue) {
        if (queue == "orders-seq-1") return depth_answer(error(errc::not_connected, "no route"));
        return much();
    });
    EXPECT_NE(poll(action::up).decision.reason.find("no route"), std::string::npos);
}

TEST_F(engine_scaling_shards, no_more_than_there_are_shards) {
    start_shards({1, 100});
    EXPECT_EQ(poll(action::hold).seen.max, 2U);
}

TEST_F(engine_scaling, without_an_autoscaler_a_range_stays_at_its_minimum) {
    start(always(ack), {.consumers = {2, 8}});
    clock->advance(10min);
    EXPECT_EQ(driver().count("subscribe"), 2U);
}

TEST_F(engine_scaling, options_that_make_no_sense_are_refused) {
    const auto code_of = [&](const autoscaler_options& how) {
        try {
            broker().consumer_group().enable_autoscaling(how);
        } catch (const exception& e) {
            return e.cause().code;
        }
        return error_code();
    };
    const auto invalid = make_error_code(errc::invalid_argument);
    EXPECT_EQ(code_of({}), error_code());
    EXPECT_EQ(code_of({.poll = 0ms}), invalid);
    EXPECT_EQ(code_of({.up = 0.5, .down = 0.5}), invalid);
    EXPECT_EQ(code_of({.hysteresis = -1ms}), invalid);
    EXPECT_EQ(code_of({.cooldown = -1ms}), invalid);
    start(always(ack));
    EXPECT_THROW(group().enable_autoscaling(), exception) << "after the start";
}

}  // namespace
}  // namespace shove::test
