#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "lease_stage.hpp"

namespace shove::testkit {
namespace {

void two_groups_each_get_it(lease_stage& on) {
    const auto broker = on.open();
    EXPECT_TRUE(subscribe(broker, lease_start::kind::latest, "a").created);
    EXPECT_TRUE(subscribe(broker, lease_start::kind::latest, "b").created);
    EXPECT_FALSE(subscribe(broker, lease_start::kind::latest, "a").created) << "subscribed twice";
    const auto receipt = publish(broker, "k", "SECRET-one");
    for (const auto* group : {"a", "b"}) {
        const auto got = receive_one(broker, group);
        EXPECT_EQ(got.envelope->id, receipt.id);
        EXPECT_EQ(got.envelope->payload, "SECRET-one");
        EXPECT_EQ(got.envelope->published_at, receipt.published_at);
        EXPECT_EQ(got.attempt, 1U);
        EXPECT_EQ(got.group, group);
        EXPECT_TRUE(receive(broker, 10, group).empty()) << "leased twice";
    }
}

void all_parts_arrive(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    auto sent = message_of("tenant/42:a.b-c_d", std::string("\0\xff raw", 6));
    sent.content_type = "application/json";
    sent.headers.add("z-last", "").add("a-first", "opaque \"q\" \\ é");
    const auto receipt = broker.publish(sent).value();
    EXPECT_FALSE(receipt.duplicate);
    const auto got = receive_one(broker);
    EXPECT_EQ(got.envelope->topic, "events");
    EXPECT_EQ(got.envelope->name_space, "default");
    EXPECT_EQ(got.envelope->event_kind, "event.created");
    EXPECT_EQ(got.envelope->content_type, "application/json");
    EXPECT_EQ(got.envelope->payload, sent.payload);
    EXPECT_EQ(got.envelope->sequence, 1U);
    EXPECT_EQ(got.consumer, "worker-1");
    std::vector<std::string> headers;
    for (const auto& each : got.envelope->headers)
        headers.push_back(std::string(each.name) + "=" + each.value.to_string());
    EXPECT_EQ(headers, (std::vector<std::string>{"a-first=opaque \"q\" \\ é", "z-last="})) << "in order of names";
}

void empty_payload(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    publish(broker, "k", "");
    EXPECT_EQ(receive_one(broker).envelope->payload, "");
}

void replay_answers_with_the_first(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    const auto first = publish(broker, "k", "SECRET-a");
    on.pass(5s);
    const auto again = publish(broker, "k", "SECRET-a");
    EXPECT_EQ(again.id, first.id);
    EXPECT_TRUE(again.duplicate);
    EXPECT_EQ(again.published_at, first.published_at);
    EXPECT_EQ(receive(broker).size(), 1U);
}

void other_content_is_a_conflict(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    const auto original = message_of("k", "SECRET-a");
    ASSERT_TRUE(broker.publish(original));
    const auto refused = [&](auto change) {
        auto changed = original;
        change(changed);
        const auto answer = broker.publish(changed);
        EXPECT_EQ(code_of(answer), errc::idempotency_conflict);
        EXPECT_EQ(answer ? 0 : answer.error().detail.find("SECRET"), std::string::npos);
    };
    refused([](auto& m) { m.payload = "SECRET-b"; });
    refused([](auto& m) { m.event_kind = "event.changed"; });
    refused([](auto& m) { m.content_type = "text/plain"; });
    refused([](auto& m) { m.headers.add("a", "1"); });
    EXPECT_EQ(receive(broker).size(), 1U);
}

void keys_belong_to_their_topic(lease_stage& on) {
    const auto broker = on.open();
    const auto one = broker.publish(message_of("k", "a", "one")).value();
    const auto two = broker.publish(message_of("k", "b", "two")).value();
    EXPECT_FALSE(two.duplicate);
    EXPECT_NE(one.id, two.id);
}

void header_order_does_not_matter(lease_stage& on) {
    const auto broker = on.open();
    auto message = message_of("k");
    message.headers.add("a", "1").add("b", "2");
    ASSERT_FALSE(broker.publish(message).value().duplicate);
    message.headers = headers{};
    message.headers.add("b", "2").add("a", "1");
    EXPECT_TRUE(broker.publish(message).value().duplicate);
}

void concurrent_equal_publishes(lease_stage& on) {
    const auto broker = on.open();
    std::vector<result<lease_receipt>> answers(32, error(errc::internal));
    {
        std::vector<std::jthread> threads;
        for (auto& answer : answers)
            threads.emplace_back([&] { answer = broker.publish(message_of("k", "SECRET-same")); });
    }
    std::set<message_id> ids;
    for (const auto& each : answers)
        ids.insert(each.value().id);
    EXPECT_EQ(ids.size(), 1U);
    EXPECT_EQ(std::ranges::count_if(answers, [](const auto& a) { return !a->duplicate; }), 1);
}

void batch_answers_each(lease_stage& on) {
    const auto broker = on.open(lease_stage::limited({3, 128, 5, 16}));
    subscribe(broker);
    std::vector<lease_message> batch{message_of("a", "1"),  message_of("b", "2"),
                                     message_of("a", "1"),  message_of("a", "other"),
                                     message_of("bad key"), message_of("c", std::string(17, 'x')),
                                     message_of("d", "3"),  message_of("e", "4")};
    const auto answers = broker.publish_batch(batch).value();
    ASSERT_EQ(answers.size(), batch.size());
    EXPECT_FALSE(answers[0]->duplicate);
    EXPECT_FALSE(answers[1]->duplicate);
    EXPECT_TRUE(answers[2]->duplicate);
    EXPECT_EQ(answers[2]->id, answers[0]->id);
    EXPECT_EQ(code_of(answers[3]), errc::idempotency_conflict);
    EXPECT_EQ(code_of(answers[4]), errc::invalid_argument);
    EXPECT_EQ(code_of(answers[5]), errc::too_large);
    EXPECT_TRUE(answers[6]);
    EXPECT_EQ(code_of(answers[7]), errc::capacity_exceeded) << "the fourth of three";
    EXPECT_EQ(sequences(receive(broker)), (std::vector<std::uint64_t>{1, 2, 3}));
    EXPECT_TRUE(broker.publish_batch({}).value().empty());
}

void full_until_purged(lease_stage& on) {
    const auto broker = on.open(lease_stage::limited({2, 128, 5, 1024}));
    subscribe(broker);
    publish(broker, "a");
    publish(broker, "b");
    const auto refused = broker.publish(message_of("c"));
    ASSERT_EQ(code_of(refused), errc::capacity_exceeded);
    EXPECT_NE(refused.error().detail.find("retained messages"), std::string::npos);
    EXPECT_TRUE(publish(broker, "a").duplicate) << "a replay is answered although there is no room";
    for (const auto& each : receive(broker))
        EXPECT_TRUE(broker.acknowledge(each.token));
    EXPECT_EQ(code_of(broker.publish(message_of("c"))), errc::capacity_exceeded) << "an ack frees nothing";
    EXPECT_EQ(broker.purge("events", 1).value(), 1U);
    EXPECT_FALSE(publish(broker, "c").duplicate);
}

void purged_key_is_new(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    const auto first = publish(broker, "k", "1");
    ASSERT_TRUE(broker.acknowledge(receive_one(broker).token));
    ASSERT_EQ(broker.purge("events", 10).value(), 1U);
    const auto second = publish(broker, "k", "2");
    EXPECT_FALSE(second.duplicate);
    EXPECT_NE(second.id, first.id);
    EXPECT_EQ(receive_one(broker).envelope->sequence, 2U) << "a number is never given twice";
}

void earliest_latest_and_time(lease_stage& on) {
    const auto broker = on.open();
    publish(broker, "1");
    on.pass(10s);
    const auto middle = on.time()->wall();
    publish(broker, "2");
    on.pass(10s);
    publish(broker, "3");
    EXPECT_EQ(subscribe(broker, lease_start::kind::earliest, "all").pending, 3U);
    EXPECT_EQ(subscribe(broker, lease_start::kind::latest, "new").pending, 0U);
    EXPECT_EQ(subscribe(broker, lease_start(middle), "since").pending, 2U);
    EXPECT_EQ(subscribe(broker, lease_start(on.time()->wall() + 1ms), "later").pending, 0U);
    EXPECT_EQ(sequences(receive(broker, 10, "all")), (std::vector<std::uint64_t>{1, 2, 3}));
    EXPECT_EQ(sequences(receive(broker, 10, "since")), (std::vector<std::uint64_t>{2, 3}));
    EXPECT_TRUE(receive(broker, 10, "new").empty());
    publish(broker, "4");
    EXPECT_EQ(sequences(receive(broker, 10, "new")), std::vector<std::uint64_t>{4});
    EXPECT_EQ(subscribe(broker, lease_start::kind::earliest, "new").pending, 0U) << "its start is what it was";
}

void repeated_subscribe_tells_what_waits(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    publish(broker, "1");
    publish(broker, "2");
    publish(broker, "3");
    const auto got = receive(broker, 2);
    EXPECT_EQ(subscribe(broker).pending, 1U) << "what is leased does not wait";
    ASSERT_TRUE(broker.retry(got[0].token, 1h, "not.now"));
    EXPECT_EQ(subscribe(broker).pending, 2U);
}

void subscription_limit(lease_stage& on) {
    const auto broker = on.open(lease_stage::limited({10, 2, 5, 1024}));
    subscribe(broker, lease_start::kind::latest, "a");
    ASSERT_TRUE(broker.subscribe("other", "a", {}));
    const auto refused = broker.subscribe("events", "b", {});
    ASSERT_EQ(code_of(refused), errc::capacity_exceeded);
    EXPECT_NE(refused.error().detail.find("subscriptions"), std::string::npos);
    EXPECT_FALSE(subscribe(broker, lease_start::kind::latest, "a").created) << "a repeat is answered";
    ASSERT_TRUE(broker.unsubscribe("other", "a"));
    EXPECT_TRUE(subscribe(broker, lease_start::kind::latest, "b").created);
}

void unsubscribed(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker, lease_start::kind::latest, "a");
    subscribe(broker, lease_start::kind::latest, "b");
    publish(broker, "1");
    publish(broker, "2");
    ASSERT_TRUE(broker.acknowledge(receive_one(broker, "a").token));
    ASSERT_TRUE(broker.acknowledge(receive_one(broker, "a").token));
    const auto held = receive_one(broker, "b");
    EXPECT_EQ(broker.purge("events", 10).value(), 0U) << "b has not finished";
    EXPECT_EQ(broker.unsubscribe("events", "b").value(), 2U);
    EXPECT_EQ(code_of(broker.acknowledge(held.token)), errc::unknown_lease);
    EXPECT_EQ(code_of(broker.receive(request_of(1, "b"))), errc::unknown_subscription);
    EXPECT_EQ(code_of(broker.unsubscribe("events", "b")), errc::unknown_subscription);
    EXPECT_EQ(broker.purge("events", 10).value(), 2U) << "a group that left holds nothing back";
}

void unknown_places(lease_stage& on) {
    const auto broker = on.open();
    EXPECT_EQ(code_of(broker.receive(request_of())), errc::unknown_subscription);
    EXPECT_EQ(code_of(broker.dead_letters({"events", "mailers", 10, 0})), errc::unknown_subscription);
    EXPECT_EQ(code_of(broker.redrive({"events", "mailers", {}, 10})), errc::unknown_subscription);
    subscribe(broker);
    EXPECT_EQ(code_of(broker.receive(request_of(1, "nobody"))), errc::unknown_subscription);
    EXPECT_EQ(broker.purge("nothing", 10).value(), 0U);
}

void closed(lease_stage& on) {
    const auto broker = on.open();
    const auto copy = broker;
    subscribe(broker);
    broker.close();
    EXPECT_EQ(code_of(copy.publish(message_of("k"))), errc::closed);
    EXPECT_EQ(code_of(copy.receive(request_of())), errc::closed);
    EXPECT_EQ(code_of(copy.stats()), errc::closed);
    broker.close();
}

void counts(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    const auto first = publish(broker, "1", "12345");
    publish(broker, "2", "12345");
    publish(broker, "3", "12345");
    publish(broker, "4", "12345");
    auto got = receive(broker, 3);
    ASSERT_TRUE(broker.dead_letter(got[0].token, "no.good"));
    ASSERT_TRUE(broker.retry(got[1].token, 1s, "not.now"));
    const auto told = broker.stats().value();
    EXPECT_EQ(told.retained, 4U);
    EXPECT_GE(told.payload_bytes, 20U);
    EXPECT_EQ(told.subscriptions, 1U);
    EXPECT_EQ(told.limits, lease_limits{});
    ASSERT_EQ(told.topics.size(), 1U);
    EXPECT_EQ(told.topics[0].topic, "events");
    EXPECT_EQ(told.topics[0].retained, 4U);
    EXPECT_EQ(told.topics[0].next_sequence, 5U);
    EXPECT_EQ(told.topics[0].oldest, first.published_at);
    ASSERT_EQ(told.topics[0].groups.size(), 1U);
    EXPECT_EQ(told.topics[0].groups[0].pending, 2U);
    EXPECT_EQ(told.topics[0].groups[0].leased, 1U);
    EXPECT_EQ(told.topics[0].groups[0].dead, 1U);
}

void nothing_secret_is_described(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    auto message = message_of("SECRET-key", "SECRET-payload");
    message.headers.add("shown-name", "SECRET-value");
    EXPECT_EQ(describe(message).find("SECRET"), std::string::npos);
    ASSERT_TRUE(broker.publish(message));
    const auto got = receive_one(broker);
    const auto text = describe(got);
    EXPECT_EQ(text.find("SECRET"), std::string::npos);
    EXPECT_EQ(text.find(got.token.text()), std::string::npos);
    EXPECT_NE(text.find("shown-name"), std::string::npos);
    EXPECT_NE(text.find("14 bytes"), std::string::npos);
}

}  // namespace

void add_lease_publish_cases(std::vector<lease_case>& into) {
    into.insert(into.end(), {{"publish", "two_groups_each_get_it", two_groups_each_get_it},
                             {"publish", "all_parts_arrive", all_parts_arrive},
                             {"publish", "empty_payload", empty_payload},
                             {"publish", "batch_answers_each", batch_answers_each},
                             {"publish", "full_until_purged", full_until_purged},
                             {"publish", "nothing_secret_is_described", nothing_secret_is_described},
                             {"idempotency", "replay_answers_with_the_first", replay_answers_with_the_first},
                             {"idempotency", "other_content_is_a_conflict", other_content_is_a_conflict},
                             {"idempotency", "keys_belong_to_their_topic", keys_belong_to_their_topic},
                             {"idempotency", "header_order_does_not_matter", header_order_does_not_matter},
                             {"idempotency", "concurrent_equal_publishes", concurrent_equal_publishes},
                             {"idempotency", "purged_key_is_new", purged_key_is_new},
                             {"subscribe", "earliest_latest_and_time", earliest_latest_and_time},
                             {"subscribe", "repeated_tells_what_waits", repeated_subscribe_tells_what_waits},
                             {"subscribe", "limit", subscription_limit},
                             {"subscribe", "unsubscribed", unsubscribed},
                             {"subscribe", "unknown_places", unknown_places},
                             {"admin", "closed", closed},
                             {"admin", "counts", counts}});
}

}  // namespace shove::testkit
