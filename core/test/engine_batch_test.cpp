#include "engine_fixture.hpp"

#include <shove/async.hpp>

#include <map>
#include <stdexcept>

namespace shove::test {
namespace {

using raw_batch = batch<std::span<const std::byte>>;
using bodies = std::vector<std::string>;

class engine_batch : public engine_test {
protected:
    recorder<bodies> calls;
    gate hold;

    static bodies bodies_of(const raw_batch& all) {
        bodies made;
        for (const auto& each : all)
            made.push_back(text_of(each));
        return made;
    }
    /// Notes each batch; a body that begins with "bad" is answered with retry.
    detail::raw_batch_function noting() {
        return [calls = calls](raw_batch& all) {
            calls.add(bodies_of(all));
            outcomes each;
            for (const auto& body : all)
                each.push_back(text_of(body).starts_with("bad") ? retry("bad") : ack);
            return each;
        };
    }
    detail::raw_batch_function holding() {
        return [calls = calls, hold = hold](raw_batch& all) {
            calls.add(bodies_of(all));
            hold.arrive();
            return outcomes(all.size(), ack);
        };
    }
    void start_batches(detail::raw_batch_function handler, batch_options batch, consumer_options how = {},
                       const shove::topology& spec = shove::topology("orders").hold(10ms).hold(50ms).dlq()) {
        auto checked = topic(spec);
        checked.check = [](std::span<const std::byte> body) {
            return text_of(body).starts_with("garbage") ? result<void>(error(errc::decode_failed, "garbage"))
                                                        : result<void>();
        };
        batching.emplace(broker().consumer_group());
        batching->add_batch(checked, std::move(handler), batch, std::move(how));
        batching->start();
    }
    consumer_stats stats() const { return batching->stats("orders"); }
    std::shared_future<run_outcome> stop_batches(milliseconds drain) {
        return aside([this, drain] { return batching->stop(drain); });
    }
    std::map<std::string, settlement_kind> settled_by_body() {
        std::map<std::string, settlement_kind> found;
        for (const auto& item : driver().settled().all()) {
            EXPECT_FALSE(found.contains(item.body)) << item.body << " was settled twice";
            found[item.body] = item.kind;
        }
        return found;
    }
    void TearDown() override {
        hold.open();
        if (batching) {
            auto stopping = stop_batches(1h);
            advance_until("the stop", 10ms, [&] { return stopping.wait_for(0ms) == std::future_status::ready; });
        }
        batching.reset();
        engine_test::TearDown();
    }

    std::optional<any_group> batching;
};

TEST_F(engine_batch, is_handed_over_when_it_is_full) {
    start_batches(noting(), {.max_messages = 3, .max_age = 1h});
    driver().deliver(bodies{"a", "b"});
    eventually("both are held", [&] { return stats().unsettled == 2; });
    EXPECT_EQ(calls.size(), 0U);
    driver().deliver("c");
    EXPECT_EQ(calls.wait(1, "the batch").front(), (bodies{"a", "b", "c"}));
    wait_settled();
    EXPECT_EQ(stats().calls, 1U);
    EXPECT_EQ(stats().acked, 3U);
    for (const auto& [body, kind] : settled_by_body())
        EXPECT_EQ(kind, settlement_kind::complete) << body;
}

TEST_F(engine_batch, is_handed_over_by_the_age_of_its_first_message) {
    start_batches(noting(), {.max_messages = 100, .max_age = 250ms});
    driver().deliver("a");
    eventually("held", [&] { return stats().unsettled == 1; });
    clock->advance(200ms);
    driver().deliver("b");
    eventually("held", [&] { return stats().unsettled == 2; });
    clock->advance(49ms);
    EXPECT_EQ(calls.size(), 0U);
    clock->advance(1ms);
    EXPECT_EQ(calls.wait(1, "the batch").front(), (bodies{"a", "b"}));
    driver().deliver("c");
    eventually("held", [&] { return stats().received == 3; });
    clock->advance(249ms);
    EXPECT_EQ(calls.size(), 1U) << "the next batch has its own age";
    clock->advance(1ms);
    EXPECT_EQ(calls.wait(2, "the next batch").back(), (bodies{"c"}));
}

TEST_F(engine_batch, is_handed_over_by_its_bytes) {
    start_batches(noting(), {.max_age = 1h, .max_bytes = 10});
    driver().deliver(bodies{"aaaaaa", "bbbbbb"});
    EXPECT_EQ(calls.wait(1, "the batch").front(), (bodies{"aaaaaa"}));
}

TEST_F(engine_batch, one_outcome_for_each) {
    start_batches(noting(), {.max_messages = 3, .max_age = 1h});
    driver().deliver(bodies{"a", "bad", "c"});
    driver().settled().wait(3, "all three");
    const auto settled = settled_by_body();
    EXPECT_EQ(settled.at("a"), settlement_kind::complete);
    EXPECT_EQ(settled.at("bad"), settlement_kind::delay);
    EXPECT_EQ(settled.at("c"), settlement_kind::complete);
    EXPECT_EQ(stats().retried, 1U);
}

TEST_F(engine_batch, each_message_has_its_own_budget) {
    start_batches(noting(), {.max_messages = 2, .max_age = 1h}, {.max_retries = 3});
    spi::history spent;
    spent.retries = 3;
    driver().deliver("bad old", spent);
    driver().deliver("bad new");
    driver().settled().wait(2, "both");
    const auto settled = settled_by_body();
    EXPECT_EQ(settled.at("bad old"), settlement_kind::dead_letter);
    EXPECT_EQ(settled.at("bad new"), settlement_kind::delay);
}

TEST_F(engine_batch, what_it_throws_is_a_retry_of_all) {
    start_batches([](raw_batch&) -> outcomes { throw std::runtime_error("no database"); },
                  {.max_messages = 2, .max_age = 1h});
    driver().deliver(bodies{"a", "b"});
    driver().settled().wait(2, "both");
    for (const auto& item : driver().settled().all()) {
        EXPECT_EQ(item.kind, settlement_kind::delay);
        EXPECT_EQ(item.past.last_error, "no database");
    }
    EXPECT_EQ(stats().exceptions, 2U);
}

TEST_F(engine_batch, too_few_outcomes_are_a_retry_of_all_and_named) {
    start_batches([](raw_batch&) { return outcomes{ack}; }, {.max_messages = 2, .max_age = 1h});
    driver().deliver(bodies{"a", "b"});
    for (const auto& item : driver().settled().wait(2, "both")) {
        EXPECT_EQ(item.kind, settlement_kind::delay);
        EXPECT_EQ(item.past.last_error,
                  "the batch handler answered 1 outcomes for 2 messages; answer one for each, or one for all");
    }
}

TEST_F(engine_batch, the_undecodable_are_settled_alone_and_once) {
    start_batches(
        [calls = calls](raw_batch& all) -> outcomes {
            calls.add(bodies_of(all));
            throw std::runtime_error("no database");
        },
        {.max_messages = 3, .max_age = 1h}, {.max_message_bytes = 20});
    driver().deliver(bodies{"garbage", std::string(21, 'x'), "a"});
    EXPECT_EQ(calls.wait(1, "the batch").front(), (bodies{"a"}));
    driver().settled().wait(3, "all");
    const auto settled = settled_by_body();
    EXPECT_EQ(settled.at("garbage"), settlement_kind::dead_letter);
    EXPECT_EQ(settled.at(std::string(21, 'x')), settlement_kind::dead_letter);
    EXPECT_EQ(settled.at("a"), settlement_kind::delay);
}

TEST_F(engine_batch, nothing_but_poison_calls_nobody) {
    start_batches(noting(), {.max_messages = 2, .max_age = 1h});
    driver().deliver(bodies{"garbage 1", "garbage 2"});
    driver().settled().wait(2, "both");
    EXPECT_EQ(calls.size(), 0U);
    EXPECT_EQ(stats().calls, 0U);
    EXPECT_EQ(stats().dead_lettered, 2U);
}

TEST_F(engine_batch, the_partial_batch_is_handed_over_at_a_drain) {
    start_batches(noting(), {.max_messages = 3, .max_age = 1h});
    driver().deliver(bodies{"a", "b"});
    eventually("held", [&] { return stats().unsettled == 2; });
    auto stopping = stop_batches(1h);
    EXPECT_TRUE(stopping.get().clean());
    EXPECT_EQ(calls.all(), (std::vector<bodies>{{"a", "b"}}));
    for (const auto& [body, kind] : settled_by_body())
        EXPECT_EQ(kind, settlement_kind::complete) << body;
    EXPECT_EQ(driver().settled().size(), 2U);
}

TEST_F(engine_batch, at_a_drain_the_last_batch_waits_for_the_running_one_and_the_rest_goes_back) {
    start_batches(holding(), {.max_messages = 2, .max_age = 1h},
                  consumer_options{.prefetch = 10, .handler_timeout = std::nullopt}.sequential());
    driver().deliver(bodies{"a", "b", "c", "d", "e"});
    hold.arrivals().wait(1, "the first batch");
    eventually("all are held", [&] { return stats().unsettled == 5; });
    auto stopping = stop_batches(1h);
    driver().settled().wait(1, "what is given back");
    EXPECT_EQ(driver().settled().all().front().body, "e");
    EXPECT_EQ(driver().settled().all().front().kind, settlement_kind::release);
    EXPECT_EQ(calls.size(), 1U);
    hold.open();
    EXPECT_TRUE(stopping.get().clean());
    EXPECT_EQ(calls.all(), (std::vector<bodies>{{"a", "b"}, {"c", "d"}}));
    EXPECT_EQ(driver().settled().size(), 5U);
}

TEST_F(engine_batch, as_many_at_once_as_the_prefetch_holds) {
    start_batches(holding(), {.max_messages = 2, .max_age = 1h}, {.prefetch = 4, .handler_timeout = std::nullopt});
    driver().deliver(bodies{"a", "b", "c", "d", "e", "f"});
    hold.arrivals().wait(2, "two batches");
    EXPECT_EQ(stats().unsettled, 4U);
    hold.open();
    eventually("the third", [&] { return calls.size() == 3; });
}

TEST_F(engine_batch, a_timeout_settles_every_member_and_drops_the_late_answer) {
    start_batches(holding(), {.max_messages = 2, .max_age = 1h}, {.handler_timeout = 30s, .timeout_grace = 1s});
    driver().deliver(bodies{"a", "b"});
    hold.arrivals().wait(1, "the call");
    clock->advance(30s);
    EXPECT_EQ(driver().settled().size(), 0U) << "settled before the grace";
    clock->advance(1s);
    for (const auto& item : driver().settled().wait(2, "both")) {
        EXPECT_EQ(item.kind, settlement_kind::delay);
        EXPECT_EQ(item.past.retries, 1U);
    }
    EXPECT_EQ(stats().stuck, 1U);
    hold.open();
    eventually("the late return", [&] { return stats().running == 0; });
    EXPECT_EQ(driver().settled().size(), 2U) << "settled twice";
    EXPECT_EQ(stats().acked, 0U);
}

TEST_F(engine_batch, a_suspect_is_a_batch_of_its_own) {
    can.crash_budget = true;
    start_batches(noting(), {.max_messages = 100, .max_age = 250ms});
    spi::history crashed;
    crashed.crashes = 1;
    driver().deliver("suspect", crashed);
    EXPECT_EQ(calls.wait(1, "the suspect").front(), (bodies{"suspect"}));
    EXPECT_EQ(driver().count("isolate"), 1U);
    wait_settled();
}

TEST_F(engine_batch, leases_of_every_member_are_kept) {
    can.lease = 30s;
    start_batches(holding(), {.max_messages = 2, .max_age = 1h},
                  consumer_options{.prefetch = 10, .handler_timeout = std::nullopt}.sequential());
    recorder<std::vector<std::uint64_t>> extended;
    driver().on_extend([extended](const std::vector<std::uint64_t>& tags) {
        extended.add(tags);
        return std::vector<std::uint64_t>{};
    });
    const auto first = driver().deliver(bodies{"a", "b", "c"});
    hold.arrivals().wait(1, "the batch");
    eventually("all are held", [&] { return stats().unsettled == 3; });
    clock->advance(10s);
    auto tags = extended.wait(1, "a renewal").front();
    std::ranges::sort(tags);
    EXPECT_EQ(tags, (std::vector<std::uint64_t>{first, first + 1, first + 2}));
}

TEST_F(engine_batch, refuses_what_cannot_be) {
    can.key_order = true;
    const auto refusal = [&](batch_options batch, consumer_options how = {},
                             const shove::topology& spec = shove::topology("orders")) {
        auto group = broker().consumer_group();
        try {
            group.add_batch(topic(spec), noting(), batch, std::move(how));
        } catch (const exception& e) {
            return e.cause().message();
        }
        return std::string("accepted");
    };
    EXPECT_NE(refusal({.max_messages = 0}).find("max_messages of the batches of 'orders' is 0"), std::string::npos);
    EXPECT_NE(refusal({.max_messages = 100'001}).find("is 100001"), std::string::npos);
    EXPECT_NE(refusal({.max_age = 0ms}).find("max_age"), std::string::npos);
    EXPECT_NE(refusal({.max_bytes = 0}).find("max_bytes"), std::string::npos);
    EXPECT_NE(refusal({.max_messages = 50}, {.prefetch = 49}).find("a batch of 50 can never fill"), std::string::npos);
    EXPECT_EQ(refusal({.max_messages = 50}, {.prefetch = 50}), "accepted");
    const auto keyed = shove::topology("orders").hold(1s).dlq().sequenced(sequence_failure::skip);
    EXPECT_NE(refusal({}, {}, keyed).find("topic 'orders' is sequenced, and a batch would join its keys"),
              std::string::npos);
}

struct order {
    int n = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (n))
struct order_topic : shove::topic<order> {
    static constexpr auto topology = shove::topology("orders").hold(10ms).dlq();
};

TEST_F(engine_batch, a_coroutine_takes_typed_messages) {
    recorder<std::vector<int>> numbers;
    batching.emplace(broker().consumer_group());
    batching->add_batch<order_topic>(
        [numbers](batch<order>& all) -> boost::asio::awaitable<outcomes> {
            std::vector<int> seen;
            outcomes each;
            for (std::size_t i = 0; i < all.size(); ++i) {
                seen.push_back(all[i].n);
                each.push_back(all.info(i).attempt() == 1 && all[i].n == 2 ? retry : ack);
            }
            numbers.add(seen);
            co_return each;
        },
        {.max_messages = 4, .max_age = 1h});
    batching->start();
    driver().deliver(bodies{R"({"n":1})", "garbage", R"({"n":2})", R"({"n":3})"});
    EXPECT_EQ(numbers.wait(1, "the batch").front(), (std::vector<int>{1, 2, 3}));
    driver().settled().wait(4, "all");
    const auto settled = settled_by_body();
    EXPECT_EQ(settled.at(R"({"n":1})"), settlement_kind::complete);
    EXPECT_EQ(settled.at("garbage"), settlement_kind::dead_letter);
    EXPECT_EQ(settled.at(R"({"n":2})"), settlement_kind::delay);
    EXPECT_EQ(settled.at(R"({"n":3})"), settlement_kind::complete);
}

TEST_F(engine_batch, messages_alone_and_one_outcome_for_all) {
    recorder<std::size_t> sizes;
    batching.emplace(broker().consumer_group());
    batching->add_batch<order_topic>(
        [sizes](std::span<const order> all) {
            sizes.add(all.size());
            return all.size() == 2 ? reject("both") : ack;
        },
        {.max_messages = 2, .max_age = 1h});
    batching->start();
    driver().deliver(bodies{R"({"n":1})", R"({"n":2})"});
    for (const auto& item : driver().settled().wait(2, "both"))
        EXPECT_EQ(item.kind, settlement_kind::dead_letter);
    EXPECT_EQ(sizes.all(), (std::vector<std::size_t>{2}));
}

}  // namespace
}  // namespace shove::test
