#include "stage.hpp"

#include <algorithm>
#include <set>

// What a backend tells of its broker and its queues, for `doctor` and `topology plan`. Asking changes nothing.

namespace shove::testkit {
namespace {

const requirement needs_key_order{"key_order", &has<&spi::capabilities::key_order>};

using facts_told = std::vector<std::pair<std::string, std::string>>;

facts_told facts_of(const any_broker& broker) {
    facts_told made;
    for (const auto& each : broker.describe().facts)
        made.emplace_back(each.name, each.value);
    return made;
}

std::vector<spi::queue_info> rows_of(stage& on, std::string_view queue) {
    auto rows = on.broker().admin().queues();
    std::erase_if(rows, [&](const auto& row) { return row.name != queue; });
    return rows;
}

/// Each fact has a name of its own and says something; each broker on the store tells the same.
void facts(stage& on) {
    const auto told = facts_of(on.broker());
    std::set<std::string> names;
    for (const auto& [name, value] : told) {
        EXPECT_FALSE(name.empty()) << "a fact without a name: " << value;
        EXPECT_FALSE(value.empty()) << name << " says nothing";
        EXPECT_TRUE(names.insert(name).second) << name << " is told twice";
    }
    EXPECT_EQ(facts_of(on.broker()), told);
    on.reopen();
    EXPECT_EQ(facts_of(on.broker()), told) << "told otherwise after reopening";
}

/// A broker's own time goes on; one without a clock says so.
void clock_goes_on(stage& on) {
    const auto first = on.broker().describe().clock;
    if (!first) return;
    EXPECT_GT(first->time_since_epoch().count(), 0) << "no time at all";
    eventually("the broker's clock goes on", [&] { return on.broker().describe().clock > first; });
}

void closed(stage& on) {
    ASSERT_TRUE(on.broker().close(patience()));
    try {
        (void)on.broker().describe();
        ADD_FAILURE() << "a closed broker was described";
    } catch (const exception& e) {
        EXPECT_EQ(e.cause(), errc::closed) << e.what();
    }
}

/// Queues, messages and calls are as they were.
void changes_nothing(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    publish_numbered(on, topic, 3);
    const gate hold;
    const opens_at_exit opener(hold);
    const probe handler([hold](const seen&, const delivery&) {
        hold.arrive();
        return ack;
    });
    auto consuming = on.consume(topic, handler, consumer_options{.prefetch = 1}.sequential());
    hold.arrivals().wait(1, "a call");
    for (int i = 0; i < 10; ++i)
        (void)on.broker().describe();
    const auto depth = on.broker().depth(queue_of(topic));
    EXPECT_EQ(depth.in_flight, 1U);
    EXPECT_EQ(depth.ready, 2U);
    hold.open();
    EXPECT_EQ(payloads(handler.wait(3)), numbered_bodies(3));
}

/// A queue is listed once it is declared, with the dead-letter queue that it was declared with.
void lists_what_is_declared(stage& on) {
    const auto letters = on.fresh_name("letters");
    const auto plain = on.topic();
    const auto derived = on.topic([](auto t) { return t.hold(10ms).dlq(); });
    const auto named = on.topic([&](auto t) { return t.dlq_named(letters); });
    for (const auto& topic : {plain, derived, named}) {
        const auto rows = rows_of(on, queue_of(topic));
        ASSERT_EQ(rows.size(), 1U) << queue_of(topic);
        EXPECT_EQ(rows.front().dead_letter_queue, dead_queue_of(topic));
        EXPECT_EQ(rows.front().dead, 0U);
        EXPECT_EQ(rows.front().depth.ready, 0U);
    }
    EXPECT_EQ(rows_of(on, dead_queue_of(derived)).size(), 1U) << "the dead-letter queue is listed, too";
    EXPECT_EQ(rows_of(on, letters).size(), 1U);
}

/// Each shard is a queue of its own; the topic's name is none.
void lists_every_shard(stage& on) {
    const auto topic =
        on.topic([](auto t) { return t.hold(10ms).dlq().sequenced(sequence_failure::skip).routing_shards(3); });
    ASSERT_EQ(topic.topology->targets().size(), 3U);
    for (const auto& shard : topic.topology->targets()) {
        const auto rows = rows_of(on, shard);
        ASSERT_EQ(rows.size(), 1U) << shard;
        EXPECT_EQ(rows.front().dead_letter_queue, dead_queue_of(topic));
    }
    EXPECT_TRUE(rows_of(on, queue_of(topic)).empty());
}

/// Whoever asks about a queue that is not there does not make it.
void looking_makes_nothing(stage& on) {
    const auto there = on.topic([](auto t) { return t.dlq(); });
    const auto missing = on.undeclared([](auto t) { return t.hold(10ms).dlq(); });
    const auto before = on.broker().admin().queues().size();
    EXPECT_THROW((void)on.broker().depth(queue_of(missing)), exception);
    EXPECT_THROW((void)on.broker().depth(dead_queue_of(missing)), exception);
    EXPECT_FALSE(on.publisher().try_publish(missing, a_body));
    (void)on.broker().describe();
    EXPECT_TRUE(rows_of(on, queue_of(missing)).empty());
    EXPECT_TRUE(rows_of(on, dead_queue_of(missing)).empty());
    EXPECT_EQ(on.broker().admin().queues().size(), before);
    on.broker().declare(missing);
    EXPECT_EQ(rows_of(on, queue_of(missing)).size(), 1U);
    EXPECT_EQ(rows_of(on, queue_of(there)).size(), 1U);
}

/// Declared again with another dead-letter queue: it is listed with the new one, or the broker refuses and keeps the
/// old one. Whoever looks sees what is so.
void another_declaration_is_seen(stage& on) {
    const auto old = on.topic();
    on.publisher().publish(old, a_body);
    const auto again = runtime_topic::make(shove::topology(queue_of(old)).dlq()).value();
    auto expected = dead_queue_of(again);
    try {
        on.broker().declare(again);
    } catch (const exception& e) {
        EXPECT_EQ(e.cause(), errc::topology_mismatch) << e.what();
        expected = dead_queue_of(old);
    }
    const auto rows = rows_of(on, queue_of(old));
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows.front().dead_letter_queue, expected);
    EXPECT_EQ(rows.front().depth.ready, 1U) << "its message is gone";
    EXPECT_EQ(rows_of(on, dead_queue_of(again)).size(), expected.empty() ? 0U : 1U);
}

}  // namespace

void add_describe_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"describe", "facts", &facts},
                            {"describe", "clock_goes_on", &clock_goes_on},
                            {"describe", "closed", &closed},
                            {"describe", "changes_nothing", &changes_nothing},
                            {"describe", "lists_what_is_declared", &lists_what_is_declared, {needs_admin}},
                            {"describe", "lists_every_shard", &lists_every_shard, {needs_admin, needs_key_order}},
                            {"describe", "looking_makes_nothing", &looking_makes_nothing, {needs_admin}},
                            {"describe", "another_declaration_is_seen", &another_declaration_is_seen, {needs_admin}},
                        });
}

}  // namespace shove::testkit
