#include <shove/testkit/child_process.hpp>
#include <shove/testkit/ledger.hpp>

#include "stage.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <set>
#include <thread>

namespace shove::testkit {
namespace {

constexpr auto needs_key_order = &has<&spi::capabilities::key_order>;
const requirement ordered{"key_order", needs_key_order};
const requirement keeps_keys{"keeps_keys", &has<&spi::capabilities::keeps_keys>};

shove::topology shards(const shove::topology& t, sequence_failure on_failure = sequence_failure::skip) {
    return t.hold(10ms).dlq().sequenced(on_failure);
}

runtime_topic sequenced(stage& on, sequence_failure on_failure = sequence_failure::skip) {
    return on.topic([&](auto t) { return shards(t, on_failure); });
}

publish_options keyed(std::string_view key) {
    publish_options how;
    how.key = key;
    return how;
}

/// `KEY:SECRET-0`, `KEY:SECRET-1`, …
std::string body_of(const std::string& key, int number) {
    return key + ":SECRET-" + std::to_string(number);
}

/// `n` messages of each key, interleaved.
void fill(stage& on, const runtime_topic& topic, const std::vector<std::string>& keys, int n) {
    std::vector<std::string> bodies;
    std::vector<any_publisher::raw_outgoing> batch;
    bodies.reserve(keys.size() * static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) {
        for (const auto& key : keys) {
            bodies.push_back(body_of(key, i));
            batch.push_back({bodies.back(), keyed(key)});
        }
    }
    ASSERT_TRUE(on.publisher().publish_batch(topic, batch).all_stored());
}

std::string key_of(const std::string& body) {
    return body.substr(0, body.find(':'));
}
int number_of(const std::string& body) {
    return std::stoi(body.substr(body.find('-') + 1));
}

/// First calls of each key come in the order in which they were published.
template <class Bodies>
void expect_order(const Bodies& bodies) {
    std::map<std::string, int> last;
    std::set<std::string> met;
    for (const std::string& body : bodies) {
        if (!met.insert(body).second) continue;
        const auto key = key_of(body);
        const auto before = last.find(key);
        EXPECT_EQ(number_of(body), before == last.end() ? 0 : before->second + 1) << "out of order: " << body;
        last[key] = number_of(body);
    }
}

void order_per_key(stage& on) {
    const auto topic = sequenced(on);
    const std::vector<std::string> keys{"a", "b", "c", "d", "e"};
    fill(on, topic, keys, 40);
    const probe handler;
    auto consuming = on.consume(topic, handler);
    EXPECT_EQ(handler.wait(200).size(), 200U);
    expect_order(payloads(handler.all()));
    EXPECT_TRUE(consuming.stop().clean());
    on.wait_empty(topic);
}

void order_through_retries(stage& on) {
    const auto topic = sequenced(on);
    fill(on, topic, {"a", "b", "c"}, 20);
    const probe handler([](const seen& call, const delivery&) {
        return call.attempt < 3 && number_of(call.payload) % 5 == 2 ? retry("not yet") : ack;
    });
    auto consuming = on.consume(topic, handler);
    handler.wait(60 + 2 * 12);
    EXPECT_TRUE(consuming.stop().clean());
    expect_order(payloads(handler.all()));
    // Not even a repeated call lets a later one by.
    std::map<std::string, int> last;
    for (const auto& call : handler.all()) {
        auto& before = last[key_of(call.payload)];
        EXPECT_GE(number_of(call.payload), before) << call.payload;
        before = number_of(call.payload);
    }
    on.wait_empty(topic);
}

void order_through_defer(stage& on) {
    const auto topic = sequenced(on);
    fill(on, topic, {"a"}, 3);
    std::atomic<int> deferred{2};
    const probe handler([&](const seen&, const delivery&) { return deferred-- > 0 ? defer : ack; });
    auto consuming = on.consume(topic, handler);
    const auto calls = handler.wait(5);
    EXPECT_EQ(payloads(calls), (std::vector<std::string>{body_of("a", 0), body_of("a", 0), body_of("a", 0),
                                                         body_of("a", 1), body_of("a", 2)}));
    for (const auto& call : calls)
        EXPECT_EQ(call.attempt, 1U) << "a defer costs nothing";
    EXPECT_TRUE(calls[1].redelivered) << "it may have been handled before";
    EXPECT_FALSE(calls[4].redelivered);
    EXPECT_TRUE(consuming.stop().clean());
}

void one_key_waits_alone(stage& on) {
    const auto topic =
        on.topic([](auto t) { return t.hold(1h).dlq().sequenced(sequence_failure::skip).routing_shards(1); });
    fill(on, topic, {"slow", "quick"}, 3);
    const probe handler(
        [](const seen& call, const delivery&) { return key_of(call.payload) == "slow" ? retry("in an hour") : ack; });
    auto consuming = on.consume(topic, handler);
    eventually("the other key is done", [&] { return consuming.stats(queue_of(topic)).acked == 3; });
    EXPECT_TRUE(consuming.stop().clean()) << "a drain waits for no retry";
    on.expect_counted("all three are back", [&] { return on.broker().depth(topic).ready == 3; });
}

void a_retry_survives_the_drain(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(300ms).dlq().sequenced(sequence_failure::skip); });
    fill(on, topic, {"a"}, 2);
    {
        const probe failing(retry("first"));
        auto consuming = on.consume(topic, failing);
        eventually("the retry is noted", [&] { return consuming.stats(queue_of(topic)).retried == 1; });
        EXPECT_TRUE(consuming.stop().clean());
    }
    const probe handler;
    auto consuming = on.consume(topic, handler);
    const auto calls = handler.wait(2);
    EXPECT_EQ(payloads(calls), (std::vector<std::string>{body_of("a", 0), body_of("a", 1)}));
    EXPECT_EQ(calls.front().attempt, 2U);
    EXPECT_EQ(calls.front().last_error, "first");
    EXPECT_TRUE(calls.front().redelivered);
    EXPECT_TRUE(consuming.stop().clean());
}

void skip_goes_on(stage& on) {
    const auto topic = sequenced(on);
    fill(on, topic, {"a"}, 5);
    const probe handler(
        [](const seen& call, const delivery&) { return number_of(call.payload) == 3 ? reject("bad") : ack; });
    auto consuming = on.consume(topic, handler);
    handler.wait(5);
    EXPECT_TRUE(consuming.stop().clean());
    const auto letters = on.take_dead(topic, 1);
    EXPECT_EQ(letters.front().payload, body_of("a", 3));
    EXPECT_EQ(letters.front().key, "a");
    on.wait_empty(topic);
}

void fail_all_poisons_the_key(stage& on) {
    const auto topic = sequenced(on, sequence_failure::fail_all);
    fill(on, topic, {"a", "b"}, 6);
    const probe handler(
        [](const seen& call, const delivery&) { return call.payload == body_of("a", 3) ? reject("bad") : ack; });
    auto consuming = on.consume(topic, handler);
    const auto letters = on.take_dead(topic, 3);
    handler.wait(10);
    EXPECT_TRUE(consuming.stop().clean());
    EXPECT_EQ(handler.size(), 10U) << "a poisoned message was handled";
    std::map<std::string, std::string> reasons;
    for (const auto& letter : letters)
        reasons[letter.payload] = letter.death ? letter.death->reason : "";
    EXPECT_EQ(reasons,
              (std::map<std::string, std::string>{
                  {body_of("a", 3), "rejected"}, {body_of("a", 4), "poisoned"}, {body_of("a", 5), "poisoned"}}));
    on.wait_empty(topic);
}

void poison_outlives_the_group_until_released(stage& on) {
    const auto topic = sequenced(on, sequence_failure::fail_all);
    fill(on, topic, {"a"}, 1);
    {
        auto consuming = on.consume(topic, probe(reject("bad")));
        (void)on.take_dead(topic, 1);
        EXPECT_TRUE(consuming.stop().clean());
    }
    const auto keys = on.broker().admin().keys(*topic.topology);
    ASSERT_EQ(keys.size(), 1U);
    EXPECT_EQ(keys.front().key, "a");
    EXPECT_NE(keys.front().since, wall_time{});
    const probe handler;
    auto consuming = on.consume(topic, handler);
    ASSERT_TRUE(on.publisher().try_publish(topic, body_of("a", 1), keyed("a")));
    EXPECT_EQ(on.take_dead(topic, 1).front().death->reason, "poisoned");
    EXPECT_TRUE(on.broker().admin().release_key(*topic.topology, "a"));
    EXPECT_FALSE(on.broker().admin().release_key(*topic.topology, "a")) << "it was released before";
    ASSERT_TRUE(on.publisher().try_publish(topic, body_of("a", 2), keyed("a")));
    EXPECT_EQ(handler.wait(1).front().payload, body_of("a", 2));
    EXPECT_EQ(handler.size(), 1U);
    EXPECT_TRUE(consuming.stop().clean());
    EXPECT_TRUE(on.broker().admin().keys(*topic.topology).empty());
}

void a_second_group_waits_for_the_shards(stage& on) {
    const auto topic = sequenced(on);
    const probe first;
    const probe second;
    auto one = on.consume(topic, first);
    fill(on, topic, {"a", "b", "c", "d"}, 5);
    first.wait(20);
    auto two = on.consume(topic, second);
    fill(on, topic, {"a", "b", "c", "d"}, 1);
    first.wait(24);
    EXPECT_EQ(second.size(), 0U) << "two read one shard";
    EXPECT_TRUE(one.stop().clean());
    fill(on, topic, {"a", "b", "c", "d"}, 2);
    second.wait(8);
    EXPECT_TRUE(two.stop().clean());
    on.wait_empty(topic);
}

void the_fence_rises(stage& on) {
    const auto topic = sequenced(on);
    std::vector<std::uint64_t> fences;
    std::mutex guard;
    const probe handler([&](const seen&, const delivery& info) {
        const std::lock_guard lock(guard);
        fences.push_back(info.fence().value_or(0));
        return ack;
    });
    for (std::size_t round = 0; round < 3; ++round) {
        auto consuming = on.consume(topic, handler);
        ASSERT_TRUE(on.publisher().try_publish(topic, body_of("a", round), keyed("a")));
        handler.wait(round + 1);
        EXPECT_TRUE(consuming.stop().clean());
    }
    EXPECT_GT(fences.at(0), 0U);
    EXPECT_LT(fences.at(0), fences.at(1));
    EXPECT_LT(fences.at(1), fences.at(2));
}

void key_is_asked_for(stage& on) {
    const auto topic = sequenced(on);
    const auto sent = on.publisher().try_publish(topic, a_body);
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().code, errc::invalid_argument);
    EXPECT_NE(sent.error().message().find(queue_of(topic)), std::string::npos);
}

void stop_leaves_nothing_out_of_order(stage& on) {
    const auto topic = sequenced(on);
    fill(on, topic, {"a", "b", "c"}, 60);
    const probe handler([](const seen& call, const delivery&) {
        return call.attempt == 1 && number_of(call.payload) % 7 == 3 ? retry("once") : ack;
    });
    for (std::size_t stops = 1; stops <= 5; ++stops) {
        auto consuming = on.consume(topic, handler);
        handler.wait(std::min<std::size_t>(stops * 30, 180));
        EXPECT_TRUE(consuming.stop().clean());
    }
    auto consuming = on.consume(topic, handler);
    on.wait_empty(topic);
    EXPECT_TRUE(consuming.stop().clean());
    expect_order(payloads(handler.all()));
    std::set<std::string> different;
    for (const auto& call : handler.all())
        different.insert(call.payload);
    EXPECT_EQ(different.size(), 180U);
}

// --- processes that are killed ---------------------------------------------------------------------

runtime_topic killed_topic() {
    return runtime_topic::make(shards(shove::topology("testkit-sequenced"))).value();
}

int handle_in_order(backend_store& store, const child_arguments& told) {
    const auto book = std::make_shared<ledger>(told.at("ledger"));
    const auto broker = store.open({});
    auto group = broker.consumer_group();
    consumer_options how;
    how.crash_budget = 100;  // every death is the test's doing
    group.add(
        killed_topic(),
        [book](std::span<const std::byte> body, const delivery& info) {
            const auto text = text_of(body);
            book->note('H', text, info.redelivered() ? "again" : "first");
            return info.attempt() == 1 && number_of(text) % 20 == 7 ? retry("once") : ack;
        },
        how);
    group.start();
    eventually("nothing left", lasting(child_unseen, [&] { return is_empty(broker.depth(killed_topic())); }));
    return group.stop(10s).exit_code();
}

const bool role_known = add_child_role("handle_in_order", &handle_in_order);

void order_through_kills(stage& on) {
    const scratch_folder folder("shove-sequenced");
    const auto file = folder.path() / "ledger";
    on.broker().declare(killed_topic());
    std::vector<std::string> keys;
    for (char c = 'a'; c < 'k'; ++c)
        keys.emplace_back(1, c);
    fill(on, killed_topic(), keys, 60);
    on.reopen();
    const child_arguments told{{"store", on.store().location()}, {"ledger", file.string()}};
    // Two processes; the one that has the shards is killed as soon as it has got on a little.
    for (std::size_t kills = 1; kills <= 4; ++kills) {
        child_process one("handle_in_order", told);
        child_process two("handle_in_order", told);
        eventually("some handled", [&] { return ledger::read(file).size() >= kills * 60; });
        one.kill();
        two.kill();
    }
    child_process last("handle_in_order", told);
    EXPECT_EQ(last.wait(), 0);
    std::vector<std::string> bodies;
    std::set<std::string> met;
    for (const auto& line : ledger::read(file)) {
        if (!met.insert(line.id).second) {
            EXPECT_EQ(line.fields.at(0), "again") << line.id << " was not flagged";
        }
        bodies.push_back(line.id);
    }
    EXPECT_EQ(met.size(), 600U) << "lost";
    expect_order(bodies);
}

}  // namespace

void add_sequenced_cases(std::vector<conformance_case>& to) {
    to.insert(
        to.end(),
        {
            {"sequenced", "order_per_key", &order_per_key, {ordered}},
            {"sequenced", "order_through_retries", &order_through_retries, {ordered}},
            {"sequenced", "order_through_defer", &order_through_defer, {ordered}},
            {"sequenced", "one_key_waits_alone", &one_key_waits_alone, {ordered}},
            {"sequenced", "a_retry_survives_the_drain", &a_retry_survives_the_drain, {ordered}},
            {"sequenced", "skip_goes_on", &skip_goes_on, {ordered}},
            {"sequenced", "fail_all_poisons_the_key", &fail_all_poisons_the_key, {ordered}},
            {"sequenced",
             "poison_outlives_the_group_until_released",
             &poison_outlives_the_group_until_released,
             {ordered, keeps_keys, needs_admin}},
            {"sequenced", "a_second_group_waits_for_the_shards", &a_second_group_waits_for_the_shards, {ordered}},
            {"sequenced", "the_fence_rises", &the_fence_rises, {ordered}},
            {"sequenced", "key_is_asked_for", &key_is_asked_for, {ordered}},
            {"sequenced", "stop_leaves_nothing_out_of_order", &stop_leaves_nothing_out_of_order, {ordered}},
            {"sequenced", "order_through_kills", &order_through_kills, {ordered, needs_processes, needs_crash_budget}},
        });
}

}  // namespace shove::testkit
