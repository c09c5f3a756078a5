#include <shove/async.hpp>

#include "engine_fixture.hpp"

#include "../src/engine/consumer_settings.hpp"

namespace shove::test {
namespace {

struct note {
    int number = 0;
};
BOOST_DESCRIBE_STRUCT(note, (), (number))

struct notes : shove::topic<note> {
    static constexpr auto topology = shove::topology("notes").dlq();
};

TEST(option_precedence, registration_over_group_over_library) {
    const consumer_options library;
    const consumer_options group{.consumers = {2, 4}, .prefetch = 50, .handler_timeout = std::nullopt};
    const auto plain = detail::settle_options({}, library);
    EXPECT_EQ(plain.consumers.min, 1U);
    EXPECT_EQ(plain.consumers.max, 1U);
    EXPECT_EQ(plain.prefetch, 10U);
    EXPECT_TRUE(plain.concurrent);
    EXPECT_EQ(plain.max_retries, 10U);
    EXPECT_EQ(plain.handler_timeout, 30s);
    EXPECT_EQ(plain.timeout_outcome, retry);
    EXPECT_EQ(plain.timeout_grace, 1s);
    EXPECT_EQ(plain.max_message_bytes, 10'485'760U);
    EXPECT_EQ(plain.crash_budget, 3U);
    const auto inherited = detail::settle_options({.max_retries = 3}, group);
    EXPECT_EQ(inherited.consumers.max, 4U);
    EXPECT_EQ(inherited.prefetch, 50U);
    EXPECT_EQ(inherited.handler_timeout, std::nullopt);
    EXPECT_EQ(inherited.max_retries, 3U);
    EXPECT_EQ(inherited.timeout_grace, 1s);
}

TEST(option_precedence, the_librarys_own_value_can_be_given) {
    const consumer_options group{
        .prefetch = 50, .concurrent = false, .handler_timeout = 5min, .timeout_outcome = reject, .timeout_grace = 9s};
    const consumer_options own{
        .prefetch = 10, .concurrent = true, .handler_timeout = 30s, .timeout_outcome = retry, .timeout_grace = 1s};
    const auto settled = detail::settle_options(own, group);
    EXPECT_EQ(settled.prefetch, 10U);
    EXPECT_TRUE(settled.concurrent);
    EXPECT_EQ(settled.handler_timeout, 30s);
    EXPECT_EQ(settled.timeout_outcome, retry);
    EXPECT_EQ(settled.timeout_grace, 1s);
    EXPECT_FALSE(detail::settle_options(consumer_options().sequential(), {}).concurrent);
    EXPECT_FALSE(detail::settle_options({}, consumer_options().sequential()).concurrent);
}

TEST(option_precedence, reads_as_the_value_it_is) {
    consumer_options options;
    options.prefetch = 7;
    options.consumers = {1, 8};
    EXPECT_EQ(options.prefetch * 2, 14U);
    EXPECT_EQ(options.consumers.value().max, 8U);
    EXPECT_LT(options.max_retries, 11U);
    EXPECT_FALSE(options.max_retries.given());
    EXPECT_TRUE(options.prefetch.given());
    auto copy = options;
    EXPECT_FALSE(copy.max_retries.given()) << "a copy knows it still";
}

class engine_options : public engine_test {
protected:
    std::size_t prefetch_of(const consumer_options& group, const consumer_options& own) {
        const recorder<std::size_t> seen;
        driver().on_subscribe([seen](const spi::source& from) {
            seen.add(from.prefetch);
            return error();
        });
        auto made = broker().consumer_group(group);
        made.add(topic(), always(ack), own).start();
        (void)made.stop(1h);
        return seen.wait(1, "a subscription").front();
    }
};

TEST_F(engine_options, of_the_group_hold_where_a_registration_gives_none) {
    EXPECT_EQ(prefetch_of({}, {}), 10U);
    EXPECT_EQ(prefetch_of({.prefetch = 50}, {}), 50U);
    EXPECT_EQ(prefetch_of({.prefetch = 50}, {.consumers = 1}), 50U);
    EXPECT_EQ(prefetch_of({.prefetch = 50}, {.prefetch = 10}), 10U);
    EXPECT_EQ(prefetch_of({.handler_timeout = 5min}, {.prefetch = 20}), 20U);
}

TEST_F(engine_options, of_the_group_are_checked_with_the_registration) {
    auto made = broker().consumer_group({.prefetch = 0});
    EXPECT_THROW(made.add(topic(), always(ack)), exception);
    EXPECT_NO_THROW(made.add(topic(), always(ack), {.prefetch = 1}));
}

// --- a handler for each consumer -------------------------------------------------------------------

class engine_factory : public engine_test {
protected:
    const counter made;
    const recorder<std::size_t> used;
    /// Gives handlers that know which one they are.
    auto numbered() {
        return [made = made, used = used]() -> detail::raw_function {
            return [which = made.add(), used](std::span<const std::byte>, const delivery&) {
                used.add(which);
                return ack;
            };
        };
    }
};

TEST_F(engine_factory, is_called_once_per_consumer) {
    auto group = broker().consumer_group();
    group.add_each(topic(), numbered(), {.consumers = 3, .prefetch = 1});
    EXPECT_EQ(made.value(), 0U) << "before the start";
    group.start();
    EXPECT_EQ(made.value(), 3U);
    for (std::size_t i = 1; i <= 20; ++i) {
        driver().deliver("body");
        driver().settled().wait(i, "a message");
    }
    EXPECT_TRUE(group.stop(1h).clean());
    EXPECT_EQ(made.value(), 3U);
}

TEST_F(engine_factory, also_of_one_that_takes_a_dead_ones_place) {
    auto group = broker().consumer_group();
    group.add_each(topic(), numbered());
    group.start();
    eventually("it receives", [&] { return driver().receiving(); });
    driver().break_receives(error(errc::closed), 1);
    advance_until("the next", 100ms, [&] { return made.value() == 2 && driver().receiving(); });
    driver().deliver("body");
    EXPECT_EQ(used.wait(1, "a call").front(), 2U) << "the dead one's handler was used";
    EXPECT_EQ(group.stop(1h).errors, 1U);
}

TEST_F(engine_factory, makes_typed_handlers) {
    struct counting {
        int calls = 0;
        recorder<int> seen;
        outcome operator()(const note& what) {
            ++calls;
            seen.add(what.number * 100 + calls);
            return ack;
        }
    };
    const recorder<int> seen;
    auto group = broker().consumer_group();
    group.add_each<notes>([seen] { return counting{0, seen}; }, consumer_options{}.sequential());
    group.start();
    driver().deliver("{\"number\":1}");
    driver().deliver("{\"number\":2}");
    EXPECT_EQ(seen.wait(2, "the calls"), (std::vector<int>{101, 202}));
    EXPECT_TRUE(group.stop(1h).clean());
}

TEST_F(engine_factory, what_it_throws_at_the_start_is_passed_on) {
    auto group = broker().consumer_group();
    group.add(topic(), always(ack));
    group.add_each(topic(shove::topology("others")),
                   []() -> detail::raw_function { throw std::runtime_error("no database"); });
    EXPECT_THROW(group.start(), std::runtime_error);
    EXPECT_EQ(driver().count("subscribe"), 0U);
    EXPECT_TRUE(group.stop(1h).clean()) << "nothing is left of it";
}

TEST_F(engine_factory, what_it_throws_ends_an_asynchronous_run) {
    auto group = broker().consumer_group();
    group.add_each(topic(), []() -> detail::raw_function { throw std::runtime_error("no database"); });
    const recorder<error_code> ended;
    group.async_run({}, 1h, [ended](error_code code, const run_outcome&) { ended.add(code); });
    EXPECT_EQ(ended.wait(1, "the end").front(), make_error_code(errc::cancelled));
    const auto lines = said.all();
    EXPECT_TRUE(std::ranges::any_of(lines, [](const auto& l) { return l.find("no database") != std::string::npos; }));
}

TEST_F(engine_factory, what_it_throws_later_is_said_and_tried_again) {
    const counter calls;
    auto group = broker().consumer_group();
    group.add_each(topic(), [calls]() -> detail::raw_function {
        if (calls.add() == 2) throw std::runtime_error("no database");
        return always(ack);
    });
    group.start();
    eventually("it receives", [&] { return driver().receiving(); });
    driver().break_receives(error(errc::closed), 1);
    advance_until("the third call", 100ms, [&] { return calls.value() == 3 && driver().receiving(); });
    const auto lines = said.all();
    EXPECT_TRUE(std::ranges::any_of(lines, [](const auto& l) { return l.find("no database") != std::string::npos; }));
    EXPECT_EQ(group.stop(1h).errors, 1U);
}

// --- a run of a given length -----------------------------------------------------------------------

TEST_F(engine_options, a_run_ends_by_its_time) {
    group_for(always(ack));
    const auto running = aside([&] { return group().run_until_timeout(10s, 1h); });
    eventually("it receives", [&] { return driver().receiving(); });
    ASSERT_TRUE(clock->wait_for_pending(1));
    clock->advance(9'999ms);
    EXPECT_EQ(running.wait_for(5ms), std::future_status::timeout);
    clock->advance(1ms);
    EXPECT_TRUE(running.get().clean());
    EXPECT_EQ(clock->pending(), 0U);
}

}  // namespace
}  // namespace shove::test
