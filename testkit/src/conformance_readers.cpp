#include "stage.hpp"

#include <algorithm>
#include <map>
#include <thread>

// Reader groups: independent readers of what is published to one queue.

namespace shove::testkit {
namespace {

const requirement reads{"reader_groups", &has<&spi::capabilities::reader_groups>};
const requirement ordered{"key_order", &has<&spi::capabilities::key_order>};
const requirement keeps_keys{"keeps_keys", &has<&spi::capabilities::keeps_keys>};

const std::string& place_of(const runtime_topic& topic) {
    return topic.topology->reader_queue;
}

/// A reader of `base`, not declared.
template <class Shape>
runtime_topic reader_of(const runtime_topic& base, std::string_view group, Shape shape) {
    return runtime_topic::make(shape(shove::topology(queue_of(base)).for_consumer_group(group))).value();
}
runtime_topic reader_of(const runtime_topic& base, std::string_view group = "audit") {
    return reader_of(base, group, [](auto t) { return t.hold(5ms).dlq(); });
}

/// A queue and a reader of it, both declared.
struct pair_of_topics {
    runtime_topic base;
    runtime_topic reader;
};
pair_of_topics declared_pair(stage& on) {
    auto base = on.topic([](auto t) { return t.hold(5ms).dlq(); });
    auto reader = reader_of(base);
    on.broker().declare(reader);
    return {base, reader};
}

void each_gets_everything(stage& on) {
    const auto [base, reader] = declared_pair(on);
    publish_options how;
    how.key = "customer-17";
    how.headers.add("x-tenant", "acme").add("number", 5);
    how.expires_in = 1h;
    const auto id = on.publisher().publish(base, "SECRET-first", how).id();
    publish_numbered(on, base, 40);
    const auto here = on.take(base, 41);
    const auto there = on.take(reader, 41);
    EXPECT_EQ(payloads(there), payloads(here)) << "the same, in the same order";
    const auto& original = here.front();
    const auto& copy = there.front();
    EXPECT_EQ(original.id, id);
    EXPECT_EQ(copy.id, id) << "a message has one identity";
    EXPECT_EQ(copy.key, "customer-17");
    EXPECT_EQ(copy.headers.view().find("x-tenant")->as_text(), "acme");
    EXPECT_EQ(copy.headers.view().find("number")->as_integer(), 5);
    EXPECT_EQ(copy.content_type, original.content_type);
    EXPECT_EQ(copy.published_at, original.published_at);
    EXPECT_EQ(copy.expires_at, original.expires_at);
    EXPECT_FALSE(copy.redelivered);
    EXPECT_EQ(original.queue, queue_of(base));
    EXPECT_EQ(copy.queue, queue_of(base) + "-audit");
    on.wait_empty(queue_of(base));
    on.wait_empty(place_of(reader));
}

void retries_and_letters_of_its_own(stage& on) {
    const auto [base, reader] = declared_pair(on);
    on.publisher().publish(base, a_body);
    const probe fine;
    const probe failing(retry("not here"));
    auto group = on.group();
    group.add(base, fine).add(reader, failing, consumer_options{.max_retries = 2});
    running both(std::move(group));
    const auto letter = on.take_dead(reader, 1).front();
    EXPECT_EQ(letter.queue, queue_of(base) + "-audit-dlq");
    EXPECT_EQ(letter.death->reason, "max_retries_exceeded");
    EXPECT_EQ(letter.death->original_queue, place_of(reader));
    EXPECT_EQ(failing.size(), 3U);
    EXPECT_EQ(fine.size(), 1U) << "another reader's retries are no business of this one";
    EXPECT_EQ(both.stats(queue_of(base)).acked, 1U);
    EXPECT_EQ(both.stats(place_of(reader)).dead_lettered, 1U);
    EXPECT_TRUE(both.stop().clean());
    EXPECT_EQ(on.broker().depth(dead_queue_of(base)).ready, 0U);
    on.wait_empty(queue_of(base));
}

void the_main_readers_letters_stay_its_own(stage& on) {
    const auto [base, reader] = declared_pair(on);
    on.publisher().publish(base, a_body);
    auto rejecting = on.consume(base, probe(reject("bad")));
    EXPECT_EQ(on.take_dead(base, 1).front().death->original_queue, queue_of(base));
    EXPECT_TRUE(rejecting.stop().clean());
    EXPECT_EQ(on.take(reader, 1).front().attempt, 1U);
    EXPECT_EQ(on.broker().depth(dead_queue_of(reader)).ready, 0U);
}

void a_slow_one_holds_nobody_up(stage& on) {
    const auto [base, reader] = declared_pair(on);
    publish_numbered(on, base, 20);
    const gate hold;
    const probe slow([hold](const seen&, const delivery&) {
        hold.arrive();
        return ack;
    });
    auto waiting = on.consume(reader, slow, consumer_options{}.sequential());
    const opens_at_exit opener(hold);
    hold.arrivals().wait(1, "the slow reader's first call");
    EXPECT_EQ(on.take(base, 20).size(), 20U);
    on.wait_empty(queue_of(base));
    EXPECT_EQ(slow.size(), 1U);
    hold.open();
    EXPECT_EQ(payloads(slow.wait(20)), numbered_bodies(20));
    EXPECT_TRUE(waiting.stop().clean());
}

void a_later_one_gets_what_is_later(stage& on) {
    const auto base = on.topic();
    on.publisher().publish(base, "SECRET-before");
    const auto reader = reader_of(base);
    on.broker().declare(reader);
    on.publisher().publish(base, "SECRET-after");
    EXPECT_EQ(on.broker().depth(reader).ready, 1U);
    EXPECT_EQ(payloads(on.take(reader, 1)), std::vector<std::string>{"SECRET-after"});
    EXPECT_EQ(payloads(on.take(base, 2)), (std::vector<std::string>{"SECRET-before", "SECRET-after"}));
}

void declared_first_or_again(stage& on) {
    const auto base = on.undeclared([](auto t) { return t.dlq(); });
    const auto reader = reader_of(base);
    try {
        on.broker().declare(reader);
    } catch (const exception& refused) {  // where a queue cannot be made before it is known how
        EXPECT_EQ(refused.cause(), errc::unknown_queue) << refused.what();
        on.broker().declare(base);
        on.broker().declare(reader);
    }
    on.publisher().publish(base, "SECRET-one");
    on.broker().declare(base);
    on.broker().declare(reader);
    on.publisher().publish(base, "SECRET-two");
    EXPECT_EQ(payloads(on.take(reader, 2)), (std::vector<std::string>{"SECRET-one", "SECRET-two"}))
        << "and no copy twice";
    EXPECT_EQ(payloads(on.take(base, 2)), (std::vector<std::string>{"SECRET-one", "SECRET-two"}));
    EXPECT_EQ(on.broker().depth(reader).ready, 0U);
}

void publishing_through_it(stage& on) {
    const auto [base, reader] = declared_pair(on);
    on.publisher().publish(reader, a_body);
    EXPECT_EQ(on.broker().depth(base).ready, 1U);
    EXPECT_EQ(on.broker().depth(reader).ready, 1U);
}

void several_readers(stage& on) {
    const auto base = on.topic();
    std::vector<runtime_topic> readers;
    for (const auto* name : {"audit", "mail", "search"}) {
        readers.push_back(reader_of(base, name));
        on.broker().declare(readers.back());
    }
    publish_numbered(on, base, 10);
    for (const auto& each : readers)
        EXPECT_EQ(payloads(on.take(each, 10)), numbered_bodies(10));
    EXPECT_EQ(on.broker().depth(base).ready, 10U) << "the queue's own consumers have theirs";
}

void consumers_of_a_reader_share(stage& on) {
    const auto [base, reader] = declared_pair(on);
    const probe one;
    const probe two;
    auto first = on.consume(reader, one);
    auto second = on.consume(reader, two);
    publish_numbered(on, base, 50);
    eventually("all handled", [&] { return one.size() + two.size() >= 50; });
    on.wait_empty(place_of(reader));
    EXPECT_EQ(one.size() + two.size(), 50U);
}

void delayed_for_all(stage& on) {
    const auto [base, reader] = declared_pair(on);
    const auto from = std::chrono::steady_clock::now();
    on.publisher().publish(base, "SECRET-soon", delayed(200ms));
    EXPECT_EQ(on.broker().depth(reader).delayed, 1U);
    for (const auto& topic : {base, reader})
        EXPECT_GE(on.take(topic, 1).front().called_at - from, 190ms) << queue_of(topic);
}

void replayed_to_the_one_that_failed(stage& on) {
    const auto [base, reader] = declared_pair(on);
    on.publisher().publish(base, a_body);
    (void)on.take(base, 1);
    auto rejecting = on.consume(reader, probe(reject("bad")));
    on.wait_ready(dead_queue_of(reader), 1);
    EXPECT_TRUE(rejecting.stop().clean());
    EXPECT_EQ(on.broker().admin().replay(dead_queue_of(reader), "", {}).done, 1U);
    EXPECT_EQ(on.broker().depth(base).ready, 0U);
    EXPECT_EQ(payloads(on.take(reader, 1)), std::vector<std::string>{a_body});
    // Nor is what goes back to the queue itself sent to its readers again.
    on.publisher().publish(base, "SECRET-again");
    auto also_rejecting = on.consume(base, probe(reject("bad")));
    on.wait_ready(dead_queue_of(base), 1);
    EXPECT_TRUE(also_rejecting.stop().clean());
    EXPECT_EQ(on.broker().admin().replay(dead_queue_of(base), "", {}).done, 1U);
    EXPECT_EQ(on.broker().depth(base).ready, 1U);
    EXPECT_EQ(on.broker().depth(reader).ready, 1U) << "its own copy only";
}

void the_slowest_sets_the_pace(stage& on) {
    on.bound(3);
    const auto [base, reader] = declared_pair(on);
    publish_numbered(on, base, 3);
    EXPECT_EQ(on.take(base, 3).size(), 3U);
    on.wait_empty(queue_of(base));
    publish_options how;
    how.when_full = when_full::fail;
    const auto refused = on.publisher().try_publish(base, "SECRET-fourth", how);
    ASSERT_FALSE(refused) << "the reader's queue is full";
    EXPECT_EQ(refused.error(), errc::queue_full) << refused.error().message();
    EXPECT_EQ(on.broker().depth(base).ready, 0U) << "all or nothing";
    const counter stored;
    std::jthread waiting([&, publisher = on.publisher()] {
        if (publisher.try_publish(base, "SECRET-fifth")) stored.add();
    });
    EXPECT_EQ(payloads(on.take(reader, 4)),
              (std::vector<std::string>{numbered_body(0), numbered_body(1), numbered_body(2), "SECRET-fifth"}));
    waiting.join();
    EXPECT_EQ(stored.value(), 1U);
    EXPECT_EQ(payloads(on.take(base, 1)), std::vector<std::string>{"SECRET-fifth"});
}

void a_full_batch_stays_even(stage& on) {
    on.bound(4);
    const auto [base, reader] = declared_pair(on);
    on.publisher().publish(base, "SECRET-first");
    (void)on.take(base, 1);
    std::vector<std::string> kept;
    auto batch = numbered(kept, 6);
    batch.front().options.when_full = when_full::fail;
    const auto report = on.publisher().publish_batch(base, batch);
    const auto stored = report.count(publish_status::ok);
    EXPECT_LE(stored, 3U);
    EXPECT_EQ(on.broker().depth(base).ready, stored);
    EXPECT_EQ(on.broker().depth(reader).ready, stored + 1);
}

publish_options keyed(std::string_view key) {
    publish_options how;
    how.key = key;
    return how;
}

void order_per_key_for_each(stage& on) {
    const auto shape = [](const shove::topology& t) {
        return t.hold(5ms).dlq().sequenced(sequence_failure::fail_all).routing_shards(2);
    };
    const auto base = on.topic(shape);
    const auto reader = reader_of(base, "audit", shape);
    on.broker().declare(reader);
    for (int i = 0; i < 10; ++i) {
        for (const auto* key : {"a", "b", "c"})
            on.publisher().publish(base, std::string(key) + "-SECRET-" + std::to_string(i), keyed(key));
    }
    const probe fine;
    const probe failing([](const seen& call, const delivery&) {
        if (call.payload == "b-SECRET-4") return reject("bad");
        return call.attempt == 1 && call.payload == "a-SECRET-3" ? retry("once") : ack;
    });
    auto group = on.group();
    group.add(base, fine).add(reader, failing);
    running both(std::move(group));
    fine.wait(30);
    EXPECT_EQ(on.take_dead(reader, 6).size(), 6U) << "b4, and b5 to b9 unhandled";
    failing.wait(26);
    for (const auto* handler : {&fine, &failing}) {
        std::map<std::string, std::vector<std::string>> by_key;
        for (const auto& call : handler->all())
            by_key[*call.key].push_back(call.payload);
        for (const auto& [key, order] : by_key)
            EXPECT_TRUE(std::ranges::is_sorted(order)) << key;
    }
    EXPECT_TRUE(both.stop().clean());
    EXPECT_TRUE(on.broker().admin().keys(*base.topology).empty());
    ASSERT_EQ(on.broker().admin().keys(*reader.topology).size(), 1U);
    EXPECT_TRUE(on.broker().admin().release_key(*reader.topology, "b"));
}

void survives_reopening(stage& on) {
    const auto [base, reader] = declared_pair(on);
    on.publisher().publish(base, "SECRET-before");
    on.reopen();
    on.publisher().publish(base, "SECRET-after");
    EXPECT_EQ(payloads(on.take(reader, 2)), (std::vector<std::string>{"SECRET-before", "SECRET-after"}))
        << "a reader is for good, declared again or not";
    EXPECT_EQ(payloads(on.take(base, 2)), (std::vector<std::string>{"SECRET-before", "SECRET-after"}));
}

void known_to_other_brokers(stage& on) {
    const auto base = on.topic();
    auto other = on.store().open({});
    other.publisher().publish(base, "SECRET-before");
    const auto reader = reader_of(base);
    on.broker().declare(reader);
    other.publisher().publish(base, "SECRET-after");
    EXPECT_EQ(payloads(on.take(reader, 1)), std::vector<std::string>{"SECRET-after"});
}

}  // namespace

void add_reader_cases(std::vector<conformance_case>& to) {
    to.insert(
        to.end(),
        {
            {"readers", "each_gets_everything", &each_gets_everything, {reads}},
            {"readers", "retries_and_letters_of_its_own", &retries_and_letters_of_its_own, {reads}},
            {"readers", "the_main_readers_letters_stay_its_own", &the_main_readers_letters_stay_its_own, {reads}},
            {"readers", "a_slow_one_holds_nobody_up", &a_slow_one_holds_nobody_up, {reads}},
            {"readers", "a_later_one_gets_what_is_later", &a_later_one_gets_what_is_later, {reads}},
            {"readers", "declared_first_or_again", &declared_first_or_again, {reads}},
            {"readers", "publishing_through_it", &publishing_through_it, {reads}},
            {"readers", "several_readers", &several_readers, {reads}},
            {"readers", "consumers_of_a_reader_share", &consumers_of_a_reader_share, {reads}},
            {"readers", "delayed_for_all", &delayed_for_all, {reads, needs_delayed_publish}},
            {"readers", "replayed_to_the_one_that_failed", &replayed_to_the_one_that_failed, {reads, needs_admin}},
            {"readers", "the_slowest_sets_the_pace", &the_slowest_sets_the_pace, {reads, needs_bounded}},
            {"readers", "a_full_batch_stays_even", &a_full_batch_stays_even, {reads, needs_bounded}},
            {"readers", "order_per_key_for_each", &order_per_key_for_each, {reads, ordered, keeps_keys, needs_admin}},
            {"readers", "survives_reopening", &survives_reopening, {reads, needs_durable}},
            {"readers", "known_to_other_brokers", &known_to_other_brokers, {reads, needs_processes}},
        });
}

}  // namespace shove::testkit
