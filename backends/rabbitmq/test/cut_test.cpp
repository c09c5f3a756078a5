#include "rabbitmq_factory.hpp"
#include "site.hpp"

#include <shove/testkit/child_process.hpp>
#include <shove/testkit/ledger.hpp>

#include <sys/wait.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <string>
#include <utility>
#include <vector>

/// Who had messages in hand and lives is not taken for dead; who died is, and what it had counts it.
namespace shove::rabbitmq_test {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::Each;
using testing::Field;
using testing::IsEmpty;
using testing::Not;
using testkit::child_arguments;
using testkit::child_process;
using testkit::ledger;

testkit::backend_factory factory() {
    return testkit::rabbitmq_factory("rabbitmq", "classic");
}

const bool child = testkit::register_child_roles(factory());

/// A call, as its handler sees it.
struct call {
    std::string id;
    std::uint32_t crashes = 0;
    bool redelivered = false;
};

detail::raw_function recording(const testkit::recorder<call>& calls) {
    return [calls](std::span<const std::byte>, const delivery& info) {
        calls.add({std::string(info.id()), info.crashes(), info.redelivered()});
        return ack;
    };
}

rabbit_group consume(rabbit_broker& by, const runtime_topic& topic, detail::raw_function handler,
                     consumer_options how = {}) {
    auto group = by.consumer_group();
    group.add(topic, std::move(handler), std::move(how));
    group.start();
    return group;
}

const auto one_shard = [](const shove::topology& t) {
    return t.hold(5ms).dlq().sequenced(sequence_failure::skip).routing_shards(1);
};

/// Cuts a consumer off that has many messages in hand; the calls of who stands by.
std::vector<call> calls_after_a_cut(site& here, const std::string& queue) {
    constexpr std::size_t many = 50;
    consumer_options how;
    how.prefetch = many;
    const slow_handler slow;
    auto group = here.consume(slow, how);
    const testkit::opens_at_exit open(slow.go);
    for (std::size_t n = 0; n < many; ++n)
        here.publish("m" + std::to_string(n), "key " + std::to_string(n % 5));
    testkit::eventually("all to be in hand", [&] { return here.broker().depth(here.topic()).in_flight == many; });
    auto other = open_quietly(here.host().url() + "?queues=classic");
    const testkit::recorder<call> calls;
    auto standby = consume(other, here.topic(), recording(calls), how);
    here.network().reset_all();
    (void)calls.wait(1, "calls of who stands by");
    slow.go.open();
    here.wait_for({.ready = 0, .unacknowledged = 0, .consumers = 2}, queue);
    (void)group.stop(10s);
    (void)standby.stop(10s);
    return calls.all();
}

constexpr auto classic = "?heartbeat=1&queues=classic";

TEST(rabbitmq_cut, what_a_live_consumer_had_in_hand_is_not_suspected) {
    const rabbitmq_server server;
    site here(server, classic);
    const auto calls = calls_after_a_cut(here, site::queue());
    EXPECT_THAT(calls, Each(Field(&call::crashes, 0U)));
    EXPECT_THAT(calls, Contains(Field(&call::redelivered, true)));
}

TEST(rabbitmq_cut, what_a_live_owner_of_a_shard_had_in_hand_is_not_suspected) {
    const rabbitmq_server server;
    site here(server, classic, one_shard);
    const auto calls = calls_after_a_cut(here, "orders-seq-0");
    EXPECT_EQ(calls.size(), 50U);
    EXPECT_THAT(calls, Each(Field(&call::crashes, 0U)));
}

// --- processes that die -------------------------------------------------------------------------------

runtime_topic topic_of(bool sequenced) {
    const shove::topology plain("orders");
    return runtime_topic::make(sequenced ? one_shard(plain) : plain.hold(5ms).dlq()).value();
}

/// What a child has of a shard at most.
constexpr std::size_t window = 3;

/// Handles all, and dies over `poison`; what is called `hangs` it holds until it is killed.
int handle_and_die(testkit::backend_store& store, const child_arguments& told) {
    const auto book = std::make_shared<ledger>(told.at("ledger"));
    const auto topic = topic_of(told.contains("sequenced"));
    const auto broker = store.open({});
    consumer_options how;
    how.reorder_window = window;
    auto group = broker.consumer_group();
    group.add(
        topic,
        [book](std::span<const std::byte>, const delivery& info) {
            book->note('H', info.id());
            if (info.id() == "poison") std::abort();
            if (info.id() == "hangs") (void)testkit::gate().pass(1h);
            return ack;
        },
        how);
    group.start();
    testkit::eventually("nothing left", testkit::lasting(300ms, [&] {
                            const auto depth = broker.depth(topic);
                            return depth.ready + depth.in_flight + depth.delayed == 0;
                        }));
    return group.stop(10s).exit_code();
}

const bool role_known = testkit::add_child_role("handle_and_die", &handle_and_die);

/// A store, a topic on it and children there.
struct scene {
    explicit scene(bool sequenced) : topic(topic_of(sequenced)), told{{"ledger", (folder.path() / "ledger").string()}} {
        told["store"] = store->location();
        if (sequenced) told["sequenced"] = "yes";
        broker.declare(topic);
    }
    void publish(const std::string& id, const std::string& key = {}) const {
        publish_options how;
        how.id = id;
        if (!key.empty()) how.key = key;
        broker.publisher().publish(topic, "body", how);
    }
    std::size_t calls(const std::string& id) const {
        std::size_t n = 0;
        if (!std::filesystem::exists(told.at("ledger"))) return n;
        for (const auto& line : ledger::read(told.at("ledger")))
            n += line.id == id ? 1 : 0;
        return n;
    }

    const testkit::scratch_folder folder{"shove-cut"};
    const testkit::backend_factory from = factory();
    const std::unique_ptr<testkit::backend_store> store = from.make_store();
    runtime_topic topic;
    child_arguments told;
    any_broker broker = store->open(quiet());

    static broker_options quiet() {
        broker_options made;
        made.log = [](log_level, std::string_view) {};
        made.depth_samples = 0ms;
        return made;
    }
};

std::vector<std::string> dead_letters(const scene& on) {
    std::vector<std::string> dead;
    on.broker.admin().browse(on.topic.topology->dead_letter_queue, {}, [&](const spi::browsed& letter) {
        dead.push_back(letter.msg.id() + " " + letter.past->death_reason + " " + std::to_string(letter.past->crashes));
        return true;
    });
    return dead;
}

/// An orderly stop clears a message of what it did before, not of what it does then.
TEST(rabbitmq_cut, a_message_that_was_given_back_does_not_kill_for_ever) {
    const scene here(false);
    here.publish("first");
    here.publish("poison");
    {
        const slow_handler slow;
        auto group = here.broker.consumer_group();
        group.add(here.topic, slow, consumer_options().sequential());
        group.start();
        const testkit::opens_at_exit open(slow.go);
        slow.go.arrivals().wait(1, "the call of the first");
        auto stopping = std::async(std::launch::async, [&] { return group.stop(10s); });
        testkit::eventually("the other one to be given back", [&] { return here.broker.depth(here.topic).ready == 1; });
        slow.go.open();
        EXPECT_TRUE(stopping.get().clean());
    }
    unsigned deaths = 0;
    for (; deaths < 8; ++deaths) {
        child_process worker("handle_and_die", here.told);
        if (WIFEXITED(worker.wait())) break;
    }
    EXPECT_EQ(deaths, 3U);
    EXPECT_EQ(here.calls("poison"), 3U);
    EXPECT_THAT(dead_letters(here), testing::ElementsAre("poison crashed 3"));
}

/// Its keys wait until it is clear that it died; the others have no reason to.
TEST(rabbitmq_cut, other_keys_go_on_at_once_when_the_owner_of_a_shard_is_killed) {
    const scene here(true);
    for (const auto* id : {"hangs", "behind", "last"})
        here.publish(id, "a");
    here.publish("fresh", "b");  // beyond the window
    child_process owner("handle_and_die", here.told);
    testkit::eventually("its call", [&] { return here.calls("hangs") == 1; });
    const testkit::recorder<call> calls;
    auto group = here.broker.consumer_group();
    group.add(here.topic, recording(calls));
    group.start();
    testkit::eventually("the owner to have its fill", [&] { return here.broker.depth(here.topic).ready == 1; });
    owner.kill();
    const auto made = calls.wait(4, "all to be handled");
    std::vector<std::string> ids;
    for (const auto& each : made)
        ids.push_back(each.id);
    EXPECT_THAT(ids, testing::ElementsAre("fresh", "hangs", "behind", "last"));
    EXPECT_EQ(made.front().crashes, 0U);
    EXPECT_THAT(std::span(made).subspan(1), Each(Field(&call::crashes, 1U)));
    EXPECT_TRUE(group.stop(10s).clean());
}

}  // namespace
}  // namespace shove::rabbitmq_test
