#include "engine_fixture.hpp"

namespace shove::test {
namespace {

class engine_health : public engine_test {
protected:
    void queue_holds(std::uint64_t ready, milliseconds oldest) {
        driver().on_depth([=](const std::string&) {
            spi::queue_depth found;
            found.ready = ready;
            found.oldest_age = oldest;
            return std::optional<result<spi::queue_depth>>(found);
        });
    }
};

TEST_F(engine_health, good_while_messages_come) {
    queue_holds(10, 5min);
    start(always(ack));
    EXPECT_TRUE(broker().health().good());
    clock->advance(50s);
    driver().deliver("body");
    driver().settled().wait(1, "the settlement");
    clock->advance(50s);
    EXPECT_TRUE(broker().health().good()) << "given one 50 s ago";
}

TEST_F(engine_health, consumers_that_get_nothing_while_their_backlog_ages) {
    queue_holds(10, 5min);
    start(always(ack), {.consumers = 2});
    clock->advance(61s);
    const auto found = broker().health();
    ASSERT_EQ(found.starving.size(), 1U);
    EXPECT_EQ(found.starving[0].queue, "orders");
    EXPECT_EQ(found.starving[0].consumers, 2U);
    EXPECT_EQ(found.starving[0].ready, 10U);
    EXPECT_EQ(found.starving[0].oldest, 5min);
    EXPECT_EQ(found.starving[0].since_received, 61s);
    queue_holds(10, 3s);
    EXPECT_TRUE(broker().health().good()) << "what waits is young";
    queue_holds(0, 0ms);
    EXPECT_TRUE(broker().health().good()) << "nothing waits";
}

TEST_F(engine_health, a_depth_that_is_not_told_is_said) {
    start(always(ack));
    driver().on_depth([](const std::string&) {
        return std::optional<result<spi::queue_depth>>(error(errc::not_connected, "no route"));
    });
    clock->advance(61s);
    const auto found = broker().health();
    EXPECT_FALSE(found.good());
    ASSERT_EQ(found.unknown.size(), 1U);
    EXPECT_NE(found.unknown[0].find("no route"), std::string::npos);
}

TEST_F(engine_health, names_stuck_calls) {
    const gate hold;
    start(
        [hold](std::span<const std::byte>, const delivery&) {
            hold.arrive();
            return ack;
        },
        {.handler_timeout = 30s, .timeout_grace = 1s});
    const opens_at_exit opener(hold);
    driver().deliver("body");
    hold.arrivals().wait(1, "the call");
    EXPECT_TRUE(broker().health().good());
    clock->advance(31s);
    driver().settled().wait(1, "the settlement");
    const auto found = broker().health();
    ASSERT_EQ(found.stuck.size(), 1U);
    EXPECT_EQ(found.stuck[0].queue, "orders");
    EXPECT_EQ(found.stuck[0].running, 31s);
}

}  // namespace
}  // namespace shove::test
