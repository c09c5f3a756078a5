#include <shove/async.hpp>
#include <shove/testkit/events.hpp>

#include <boost/asio/use_future.hpp>

#include <future>

#include "lease_stage.hpp"

namespace shove::testkit {
namespace {

using deliveries = std::vector<leased>;

/// A receive that waits.
std::future<deliveries> waiting(const lease_broker& at, milliseconds for_so_long, std::size_t max = 10) {
    auto what = request_of(max);
    what.wait = for_so_long;
    return at.async_receive(what, boost::asio::use_future);
}

deliveries got(std::future<deliveries>& from) {
    if (from.wait_for(patience()) != std::future_status::ready) throw impatience("a receive that should end");
    return from.get();
}

/// Lets time pass until it ends: what waits inside the store is told of the clock by itself.
deliveries got_while_time_passes(lease_stage& on, std::future<deliveries>& from, milliseconds at_most) {
    const auto end = on.time()->now() + at_most;
    while (from.wait_for(1ms) != std::future_status::ready && on.time()->now() < end)
        on.pass(100ms);
    return got(from);
}

void woken_by_a_publish(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    auto answer = waiting(broker, 1h);
    publish(broker, "k");
    EXPECT_EQ(got(answer).size(), 1U);
}

void ends_at_its_deadline(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    auto answer = waiting(broker, 5s);
    ASSERT_TRUE(broker.stats()) << "what was asked before is answered before";
    EXPECT_NE(answer.wait_for(0s), std::future_status::ready);
    EXPECT_TRUE(got_while_time_passes(on, answer, 10s).empty());
}

void woken_by_what_becomes_due(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    publish(broker, "k");
    ASSERT_TRUE(broker.retry(receive_one(broker).token, 5s, "later"));
    auto answer = waiting(broker, 1h);
    const auto found = got_while_time_passes(on, answer, 10s);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].attempt, 2U);
}

void woken_by_an_ended_lease(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    publish(broker, "k");
    receive_one(broker);
    auto answer = waiting(broker, 1h);
    const auto found = got_while_time_passes(on, answer, 40s);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].attempt, 2U);
}

void woken_by_a_redrive(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    publish(broker, "k");
    ASSERT_TRUE(broker.dead_letter(receive_one(broker).token, "bad"));
    auto answer = waiting(broker, 1h);
    ASSERT_EQ(broker.redrive({"events", "mailers", {}, 10}).value(), 1U);
    EXPECT_EQ(got(answer).size(), 1U);
}

void ended_by_unsubscribe_and_close(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    auto answer = waiting(broker, 1h);
    ASSERT_TRUE(broker.unsubscribe("events", "mailers"));
    EXPECT_THROW(got(answer), std::exception);
    subscribe(broker);
    answer = waiting(broker, 1h);
    broker.close();
    EXPECT_THROW(got(answer), std::exception);
}

void several_waiters_share(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    auto first = waiting(broker, 1h, 1);
    auto second = waiting(broker, 1h, 1);
    publish(broker, "1");
    publish(broker, "2");
    EXPECT_EQ(got(first).size(), 1U);
    EXPECT_EQ(got(second).size(), 1U);
}

void every_call_has_an_async_form(lease_stage& on) {
    namespace asio = boost::asio;
    const auto broker = on.open();
    EXPECT_TRUE(broker.async_subscribe("events", "mailers", {}, asio::use_future).get().created);
    EXPECT_FALSE(broker.async_publish(message_of("a"), asio::use_future).get().duplicate);
    EXPECT_EQ(broker.async_publish_batch({message_of("b"), message_of("c")}, asio::use_future).get().size(), 2U);
    const auto got = broker.async_receive(request_of(), asio::use_future).get();
    ASSERT_EQ(got.size(), 3U);
    EXPECT_EQ(broker.async_settle(lease_settlement::acknowledge(got[0].token), asio::use_future).get().what,
              lease_settled::state::acknowledged);
    const std::vector<lease_settlement> rest{lease_settlement::dead_letter(got[1].token, "bad"),
                                             lease_settlement::dead_letter(got[2].token, "bad")};
    EXPECT_EQ(broker.async_settle_batch(rest, asio::use_future).get().size(), 2U);
    EXPECT_EQ(broker.async_dead_letters({"events", "mailers", 10, 0}, asio::use_future).get().letters.size(), 2U);
    EXPECT_EQ(broker.async_redrive({"events", "mailers", {2}, 10}, asio::use_future).get(), 1U);
    EXPECT_EQ(broker.async_purge("events", 10, asio::use_future).get(), 2U);
    EXPECT_EQ(broker.async_stats(asio::use_future).get().retained, 1U);
    EXPECT_EQ(broker.async_unsubscribe("events", "mailers", asio::use_future).get(), 1U);
    EXPECT_THROW(broker.async_publish(message_of("bad key"), asio::use_future).get(), std::exception);
}

}  // namespace

void add_lease_wait_cases(std::vector<lease_case>& into) {
    into.insert(into.end(), {{"wait", "woken_by_a_publish", woken_by_a_publish},
                             {"wait", "ends_at_its_deadline", ends_at_its_deadline},
                             {"wait", "woken_by_what_becomes_due", woken_by_what_becomes_due},
                             {"wait", "woken_by_an_ended_lease", woken_by_an_ended_lease},
                             {"wait", "woken_by_a_redrive", woken_by_a_redrive},
                             {"wait", "ended_by_unsubscribe_and_close", ended_by_unsubscribe_and_close},
                             {"wait", "several_waiters_share", several_waiters_share},
                             {"async", "every_call", every_call_has_an_async_form}});
}

}  // namespace shove::testkit
