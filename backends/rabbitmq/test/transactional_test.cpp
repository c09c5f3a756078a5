#include "site.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <set>
#include <string>
#include <vector>

/// Transactions that cannot be carried out, or of which nobody hears whether they were.
namespace shove::rabbitmq_test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Ge;
using testing::Le;

constexpr auto transactional = "?heartbeat=1&queues=classic&transactional=true";
constexpr auto dead_letters = "orders-dlq";

/// What is left of a topic when all is settled.
void expect_settled(const site& on) {
    on.wait_for({.ready = 0, .unacknowledged = 0, .consumers = 1});
}

/// One message in the hands of a call that waits to be let go.
struct held_call {
    explicit held_call(slow_handler how) : handler(std::move(how)) {
        here.publish("one");
        handler.go.arrivals().wait(1, "the call");
    }
    std::size_t calls() const { return handler.go.arrivals().value(); }
    /// All is settled, and the consumers end in order.
    void end() {
        expect_settled(here);
        EXPECT_TRUE(group.stop(10s).clean());
    }

    const rabbitmq_server server;
    site here{server, transactional};
    const slow_handler handler;
    decltype(here.consume(handler)) group = here.consume(handler);
    const testkit::opens_at_exit open{handler.go};
};

/// The queue of a copy is deleted while its handler runs. The transaction does not happen; the queue is made again.
TEST(rabbitmq_transactional, a_dead_letter_queue_that_is_gone_is_made_again) {
    held_call one({.first = reject("as asked")});
    auto& here = one.here;
    here.remove("queues", dead_letters);
    one.handler.go.open();
    expect_settled(here);
    here.wait_for({.ready = 1}, dead_letters);
    here.publish("two");
    here.wait_for({.ready = 2}, dead_letters);
    one.end();
    EXPECT_EQ(one.handler.ended.value(), 2U);
}

/// While it cannot be made again the original stays where it is: a death of this process would lose nothing.
TEST(rabbitmq_transactional, an_original_stays_while_its_dead_letter_has_no_place) {
    held_call one({.first = reject("as asked")});
    auto& here = one.here;
    const auto limit = "/api/vhost-limits/" + percent_encoded(here.host().name()) + "/max-queues";
    one.server.expect("PUT", limit, R"({"value":1})");
    here.remove("queues", dead_letters);
    one.handler.go.open();
    testkit::eventually("two failures", [&] { return one.group.stats(site::queue()).settle_retries > 1; });
    here.wait_for({.ready = 0, .unacknowledged = 1, .consumers = 1});
    one.server.expect("DELETE", limit);
    expect_settled(here);
    here.wait_for({.ready = 1}, dead_letters);
    one.end();
    EXPECT_EQ(one.handler.ended.value(), 1U);
}

/// A hold queue that is gone, with others beside that need none.
TEST(rabbitmq_transactional, a_hold_queue_that_is_gone_is_made_again) {
    const rabbitmq_server server;
    site here(server, transactional);
    const testkit::recorder<std::string> calls;
    const testkit::gate go;
    consumer_options how;
    how.prefetch = 20;
    auto group = here.consume(
        [calls, go](std::span<const std::byte>, const delivery& info) {
            (void)go.arrive();
            calls.add(std::string(info.id()) + " " + std::to_string(info.attempt()));
            return info.id() == "odd" && info.attempt() == 1 ? retry("as asked") : ack;
        },
        how);
    const testkit::opens_at_exit open(go);
    here.publish("odd");
    for (int n = 0; n < 10; ++n)
        here.publish("m" + std::to_string(n));
    go.arrivals().wait(1, "a call");
    here.remove("queues", "orders-hold-5ms");
    go.open();
    calls.wait(12, "all calls");
    expect_settled(here);
    EXPECT_TRUE(group.stop(10s).clean());
    EXPECT_EQ(calls.all().size(), 12U);
}

/// The server has committed, and its answer is swallowed: the copy is stored once more, and there is no other call.
TEST(rabbitmq_transactional, a_commit_without_an_answer_doubles_at_most) {
    held_call one({.first = reject("as asked")});
    auto& here = one.here;
    here.network().stall(testkit::flow::to_client);
    one.handler.go.open();
    here.wait_for({.ready = 1}, dead_letters);
    here.network().reset_all();
    here.network().release();
    here.wait_for({.ready = 2}, dead_letters);
    one.end();
    EXPECT_EQ(one.calls(), 1U);
}

/// The server has never seen the commit: one copy, and the original is only acknowledged when it is back.
TEST(rabbitmq_transactional, a_commit_that_did_not_arrive_doubles_nothing) {
    held_call one({.first = reject("as asked")});
    auto& here = one.here;
    here.network().stall(testkit::flow::to_target);
    one.handler.go.open();
    one.handler.ended.wait(1, "the end of the call");
    here.network().reset_all();
    here.network().release();
    here.wait_for({.ready = 1}, dead_letters);
    one.end();
    EXPECT_EQ(one.calls(), 1U);
    EXPECT_EQ(here.host().counts(dead_letters).ready, 1U);
}

/// A retry of which it is not known whether it was committed. When its copy comes back it is not taken for the
/// original, which would only be acknowledged: both copies are called.
TEST(rabbitmq_transactional, a_copy_is_not_taken_for_its_original) {
    held_call one({.first = retry("as asked"), .then = reject("as asked")});
    auto& here = one.here;
    here.network().stall(testkit::flow::to_client);
    one.handler.go.open();
    here.wait_for({.ready = 0, .unacknowledged = 1, .consumers = 1});  // committed, and back from its hold queue
    here.network().reset_all();                                        // so that the copy is delivered again
    here.network().release();
    here.wait_for({.ready = 2}, dead_letters);
    one.end();
    EXPECT_EQ(one.calls(), 3U);
}

/// A queue refuses a copy at the commit ("partial tx completion"): the original is gone then, and the copy is stored
/// as soon as there is room.
TEST(rabbitmq_transactional, a_copy_that_is_refused_is_stored_later) {
    const rabbitmq_server server;
    site here(server, transactional);
    const auto policy = "/api/policies/" + percent_encoded(here.host().name()) + "/full";
    server.expect(
        "PUT", policy,
        R"({"pattern":"^orders-dlq$","apply-to":"queues","definition":{"max-length":1,"overflow":"reject-publish"}})");
    testkit::eventually("the policy to hold", [&] {
        return server.eval("[Q || Q <- rabbit_amqqueue:list(<<\"" + here.host().name() +
                           "\">>), rabbit_policy:get(<<\"overflow\">>, Q) =:= <<\"reject-publish\">>] =/= []") ==
               "true";
    });
    const testkit::counter calls;
    auto group = here.consume([calls](std::span<const std::byte>, const delivery&) {
        calls.add();
        return reject("as asked");
    });
    here.publish("one");
    here.wait_for({.ready = 1}, dead_letters);
    here.publish("two");
    calls.wait(2, "both calls");
    testkit::eventually("the copy to be refused", [&] { return group.stats(site::queue()).settle_retries > 0; });
    EXPECT_EQ(here.host().counts(dead_letters).ready, 1U);
    server.expect("DELETE", policy);
    here.wait_for({.ready = 2}, dead_letters);
    expect_settled(here);
    EXPECT_TRUE(group.stop(10s).clean());
    EXPECT_EQ(calls.value(), 2U);
}

/// Connections that break at any byte of a transaction: nothing is lost, and what is doubled is so by one at most.
TEST(rabbitmq_transactional, breaks_at_any_byte_lose_nothing) {
    const rabbitmq_server server;
    site here(server, transactional);
    auto direct = here.direct();
    const auto publisher = direct.publisher();
    const testkit::counter calls;
    auto group = here.consume([calls](std::span<const std::byte>, const delivery& info) {
        calls.add();
        return info.attempt() == 1 ? retry("as asked") : reject("as asked");
    });
    std::size_t published = 0;
    const auto work = [&] {
        for (int n = 0; n < 10; ++n)
            publisher.publish(here.topic(), "m" + std::to_string(published++));
    };
    for (const std::size_t bytes : std::array<std::size_t, 6>{1, 40, 150, 401, 900, 2011}) {
        for (const auto way : {testkit::flow::to_target, testkit::flow::to_client}) {
            const auto accepted = here.network().accepted();
            here.network().close_after(bytes, way);
            work();
            testkit::eventually("a connection to break", [&] { return here.network().accepted() > accepted; });
        }
    }
    expect_settled(here);
    // What the broker moves from the hold queue is in no count for a moment.
    testkit::eventually("the last ones to come from the hold queue", testkit::lasting(500ms, [&] {
                            const auto depth = here.broker().depth(here.topic());
                            return depth.ready + depth.in_flight + depth.delayed == 0;
                        }));
    EXPECT_TRUE(group.stop(10s).clean());
    const auto dead = here.host().take_all(dead_letters);
    const std::set<std::string> ids(dead.begin(), dead.end());
    EXPECT_EQ(ids.size(), published);
    for (const auto& id : ids)
        EXPECT_THAT(std::ranges::count(dead, id), AllOf(Ge(1), Le(4))) << id;
    EXPECT_LE(dead.size(), published + 12 * 10U);
}

}  // namespace
}  // namespace shove::rabbitmq_test
