#include "engine_fixture.hpp"

namespace shove::test {
namespace {

/// Messages that may have killed a process run alone (G3).
class engine_suspect : public engine_test {
protected:
    void SetUp() override { can.crash_budget = true; }

    static spi::history crashed(std::uint32_t times) {
        spi::history past;
        past.crashes = times;
        return past;
    }
    /// Holds every call at the gate of its body.
    struct gates {
        gate bystander;
        gate suspect;
        recorder<std::string> started;
    };
    gates at;
    detail::raw_function holding() {
        return [at = at](std::span<const std::byte> body, const delivery&) {
            const auto text = text_of(body);
            at.started.add(text);
            (text.starts_with("suspect") ? at.suspect : at.bystander).arrive();
            return ack;
        };
    }
    std::size_t place_of(const std::string& line) const {
        const auto lines = const_cast<engine_suspect*>(this)->driver().log().all();
        return static_cast<std::size_t>(std::ranges::find(lines, line) - lines.begin());
    }
};

TEST_F(engine_suspect, runs_alone) {
    start(holding(), {.prefetch = 10, .handler_timeout = std::nullopt});
    const opens_at_exit open_one(at.bystander);
    const opens_at_exit open_two(at.suspect);
    driver().deliver("bystander 1");
    at.bystander.arrivals().wait(1, "the bystander's call");
    const auto tag = driver().deliver("suspect", crashed(1));
    driver().deliver("bystander 2");
    EXPECT_EQ(at.started.size(), 1U) << "started beside a running call";
    EXPECT_EQ(driver().count("isolate"), 0U);
    at.bystander.open();
    at.suspect.arrivals().wait(1, "the suspect's call");
    EXPECT_EQ(at.started.all(), (std::vector<std::string>{"bystander 1", "suspect"})) << "not alone";
    EXPECT_LT(place_of("isolate " + std::to_string(tag)), driver().log().size()) << "called before it was noted";
    at.suspect.open();
    at.started.wait(3, "the others after it");
    EXPECT_EQ(at.started.all().back(), "bystander 2");
    wait_settled();
}

TEST_F(engine_suspect, others_wait_until_its_settlement_is_durable) {
    start(holding(), {.prefetch = 10, .handler_timeout = std::nullopt});
    at.bystander.open();
    const opens_at_exit opener(at.suspect);
    driver().deliver("suspect", crashed(2));
    at.suspect.arrivals().wait(1, "the suspect's call");
    driver().deliver("bystander");
    driver().hold_settles();
    at.suspect.open();
    driver().batches().wait(1, "its settlement");
    EXPECT_EQ(at.started.size(), 1U) << "a bystander started while the suspect was not settled";
    driver().release_settles();
    at.started.wait(2, "the bystander");
}

TEST_F(engine_suspect, suspects_go_one_after_another) {
    start(holding(), {.prefetch = 10, .handler_timeout = std::nullopt});
    const opens_at_exit opener(at.suspect);
    at.bystander.open();
    for (int i = 0; i < 3; ++i)
        driver().deliver("suspect " + std::to_string(i), crashed(1));
    at.suspect.arrivals().wait(1, "the first");
    EXPECT_EQ(at.started.size(), 1U);
    EXPECT_EQ(driver().count("isolate"), 1U);
    at.suspect.open();
    at.started.wait(3, "all suspects");
    EXPECT_EQ(driver().count("isolate"), 3U);
    wait_settled();
    driver().deliver("bystander");
    at.started.wait(4, "ordinary work again");
}

TEST_F(engine_suspect, alone_among_all_consumers_of_the_broker) {
    const gate other;
    auto second = broker().consumer_group();
    second.add(topic(shove::topology("other")),
               [other](std::span<const std::byte>, const delivery&) {
                   other.arrive();
                   return ack;
               },
               {.handler_timeout = std::nullopt});
    second.start();
    start(holding(), {.handler_timeout = std::nullopt});
    const opens_at_exit open_one(at.suspect);
    const opens_at_exit open_two(other);
    driver().deliver_to("other", "running");
    other.arrivals().wait(1, "the other consumer's call");
    driver().deliver_to("orders", "suspect", crashed(1));
    driver().deliver_to("other", "waits");
    EXPECT_EQ(at.started.size(), 0U) << "started beside another consumer's call";
    other.open();
    at.suspect.arrivals().wait(1, "the suspect's call");
    EXPECT_EQ(other.arrivals().value(), 1U) << "another consumer's call beside the suspect";
    at.suspect.open();
    other.arrivals().wait(2, "the other consumer goes on");
    wait_settled();
    EXPECT_TRUE(second.stop(1h).clean());
}

TEST_F(engine_suspect, condemned_when_its_budget_is_spent) {
    start(holding(), {.crash_budget = 3});
    at.suspect.open();
    driver().deliver("suspect", crashed(3));
    const auto item = driver().settled().wait(1, "the settlement").front();
    EXPECT_EQ(item.kind, settlement_kind::dead_letter);
    EXPECT_EQ(item.past.death_reason, "crashed");
    EXPECT_EQ(item.past.crashes, 3U);
    EXPECT_EQ(item.past.retries, 0U);
    EXPECT_EQ(at.started.size(), 0U) << "it was called";
}

TEST_F(engine_suspect, that_lost_its_lease_is_dropped) {
    driver().on_isolate([](std::uint64_t) { return error(errc::lease_lost); });
    start(holding());
    at.bystander.open();
    driver().deliver("suspect", crashed(1));
    eventually("dropped", [&] { return stats().leases_lost == 1; });
    driver().deliver("bystander");
    EXPECT_EQ(at.started.wait(1, "the next message"), std::vector<std::string>{"bystander"});
}

TEST_F(engine_suspect, that_cannot_be_noted_is_given_back) {
    driver().on_isolate([](std::uint64_t) { return error(errc::storage_full); });
    start(holding());
    at.bystander.open();
    driver().deliver("suspect", crashed(1));
    const auto item = driver().settled().wait(1, "the settlement").front();
    EXPECT_EQ(item.kind, settlement_kind::release);
    driver().on_isolate({});
    driver().deliver("bystander");
    EXPECT_EQ(at.started.wait(1, "the next message"), std::vector<std::string>{"bystander"});
}

TEST_F(engine_suspect, is_given_back_at_a_drain) {
    start(holding(), {.prefetch = 10, .handler_timeout = std::nullopt});
    const opens_at_exit opener(at.bystander);
    driver().deliver("bystander");
    at.bystander.arrivals().wait(1, "the call");
    driver().deliver("suspect", crashed(1));
    auto stopping = stop_aside(1h);
    const auto item = driver().settled().wait(1, "the release").front();
    EXPECT_EQ(item.kind, settlement_kind::release);
    EXPECT_EQ(item.past.crashes, 1U);
    at.bystander.open();
    EXPECT_TRUE(stopping.get().clean());
    EXPECT_EQ(at.started.size(), 1U);
}

TEST_F(engine_suspect, stuck_one_does_not_stop_the_world) {
    start(holding(), {.handler_timeout = 10s, .timeout_grace = 0ms});
    const opens_at_exit opener(at.suspect);
    at.bystander.open();
    driver().deliver("suspect", crashed(1));
    at.suspect.arrivals().wait(1, "the call");
    driver().deliver("bystander");
    clock->advance(10s);
    at.started.wait(2, "others after its timeout was settled");
}

}  // namespace
}  // namespace shove::test
