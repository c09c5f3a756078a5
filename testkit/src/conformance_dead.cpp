#include "stage.hpp"

#include <stdexcept>

namespace shove::testkit {
namespace {

void rejected(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    const auto id = on.publisher().publish(topic, a_body).id();
    const probe handler(reject("no such customer"));
    auto consuming = on.consume(topic, handler);
    const auto letter = on.take_dead(topic, 1).front();
    EXPECT_EQ(letter.id, id);
    EXPECT_EQ(letter.queue, dead_queue_of(topic));
    ASSERT_TRUE(letter.death);
    EXPECT_EQ(letter.death->reason, "rejected");
    EXPECT_EQ(letter.death->original_queue, queue_of(topic));
    EXPECT_EQ(letter.death->count, 1U);
    EXPECT_NE(letter.death->at, wall_time{});
    EXPECT_EQ(letter.last_error, "no such customer");
    EXPECT_EQ(letter.first_error, "no such customer");
    EXPECT_EQ(handler.size(), 1U);
    on.wait_empty(queue_of(topic));
    on.wait_empty(dead_queue_of(topic));
}

void rejected_after_retries(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    on.publisher().publish(topic, a_body);
    const probe handler([](const seen& call, const delivery&) {
        return call.attempt < 3 ? retry("first trouble") : reject("for good");
    });
    auto consuming = on.consume(topic, handler);
    const auto letter = on.take_dead(topic, 1).front();
    EXPECT_EQ(letter.death->reason, "rejected");
    EXPECT_EQ(letter.retries, 2U);
    EXPECT_EQ(letter.first_error, "first trouble");
    EXPECT_EQ(letter.last_error, "for good");
}

void discarded_without_dlq(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms); });
    on.publisher().publish(topic, a_body);
    const probe handler(reject);
    auto consuming = on.consume(topic, handler);
    handler.wait(1);
    on.wait_empty(queue_of(topic));
    consuming.stop();
    EXPECT_EQ(handler.size(), 1U);
    EXPECT_EQ(consuming.stats(queue_of(topic)).discarded, 1U);
    EXPECT_EQ(consuming.stats(queue_of(topic)).dead_lettered, 1U);
}

/// Puts one letter into a topic's dead-letter queue.
void kill_one(stage& on, const runtime_topic& topic, std::string_view body = a_body) {
    const auto before = on.broker().depth(dead_queue_of(topic)).ready;
    on.publisher().publish(topic, body);
    auto consuming = on.consume(topic, probe(reject("killed")));
    on.wait_ready(dead_queue_of(topic), before + 1);
    consuming.stop();
}

void handler_that_throws_keeps(stage& on) {
    const auto topic = on.topic([](auto t) { return t.dlq(); });
    kill_one(on, topic);
    const counter count;
    const probe handler([count](const seen&, const delivery&) -> outcome {
        if (count.add() == 1) throw std::runtime_error("the dead-letter handler fails");
        return ack;
    });
    auto consuming = on.consume_dead(topic, handler);
    const auto calls = handler.wait(2, "the letter again");
    EXPECT_EQ(calls[1].id, calls[0].id);
    ASSERT_TRUE(calls[1].death);
    EXPECT_EQ(calls[1].death->reason, "rejected") << "its story is kept";
    EXPECT_EQ(calls[1].last_error, "killed");
    on.wait_empty(dead_queue_of(topic));
}

void other_answers_keep(stage& on) {
    const auto topic = on.topic([](auto t) { return t.dlq(); });
    for (const auto* body : {"SECRET-retry", "SECRET-reject", "SECRET-defer"})
        kill_one(on, topic, body);
    const probe handler([](const seen& call, const delivery&) {
        return call.payload == "SECRET-retry" ? retry : call.payload == "SECRET-reject" ? reject : defer;
    });
    auto consuming = on.consume_dead(topic, handler);
    handler.wait(3);
    EXPECT_TRUE(consuming.stop().clean());
    const auto depth = on.broker().depth(dead_queue_of(topic));
    EXPECT_EQ(depth.ready + depth.delayed, 3U) << "only an ack removes a letter";
}

void many_letters(stage& on) {
    const auto topic = on.topic([](auto t) { return t.dlq(); });
    std::vector<std::string> bodies;
    ASSERT_TRUE(on.publisher().publish_batch(topic, numbered(bodies, 500)).all_stored());
    const probe handler(reject);
    auto consuming = on.consume(topic, handler);
    on.wait_ready(dead_queue_of(topic), 500);
    EXPECT_EQ(handler.size(), 500U);
    EXPECT_EQ(on.take_dead(topic, 500).size(), 500U);
    on.wait_empty(dead_queue_of(topic));
}

struct order {
    std::string id;
    int amount = 0;
};
BOOST_DESCRIBE_STRUCT(order, (), (id, amount))

struct orders : shove::topic<order> {
    static constexpr auto topology = shove::topology("testkit-dead-orders").hold(std::chrono::milliseconds(1)).dlq();
};

/// The same queue, with bodies that need not be orders.
runtime_topic raw_orders() {
    return runtime_topic::make(orders::topology).value();
}

struct letter_note {
    bool decoded = false;
    std::string order_id;
    std::string decode_error;
    seen info;
};

void undecodable(stage& on) {
    on.broker().declare<orders>();
    const std::string garbage("{\"id\": 7\0 \xff", 11);
    publish_options how;
    how.headers.add("kept", 1.5);
    how.key = "k";
    const auto id = on.publisher().publish(raw_orders(), garbage, how).id();
    const counter handled;
    auto consuming = running(on.group().add<orders>([handled](const order&) {
        handled.add();
        return ack;
    }));
    const recorder<letter_note> letters;
    auto burying = running(on.group().add_dead<orders>([letters](const dead_letter<order>& letter) {
        letters.add({letter.message != nullptr, "", std::string(letter.decode_error), copy_of(letter.info)});
        return ack;
    }));
    const auto letter = letters.wait(1, "the letter").front();
    EXPECT_FALSE(letter.decoded) << "what cannot be decoded comes without a message";
    EXPECT_FALSE(letter.decode_error.empty());
    EXPECT_EQ(letter.info.payload, garbage);
    EXPECT_EQ(letter.info.id, id);
    EXPECT_EQ(letter.info.key, "k");
    EXPECT_EQ(letter.info.headers.view().find("kept")->as_floating(), 1.5);
    ASSERT_TRUE(letter.info.death);
    EXPECT_EQ(letter.info.death->reason, "deserialize");
    EXPECT_FALSE(letter.info.last_error.empty());
    EXPECT_EQ(handled.value(), 0U);
    burying.stop();
    consuming.stop();
    EXPECT_EQ(consuming.stats(orders::topology.queue()).calls, 0U) << "what is refused unhandled is no call";
}

void missing_field(stage& on) {
    on.broker().declare<orders>();
    on.publisher().publish(raw_orders(), R"({"id": "a"})");
    on.publisher().publish(raw_orders(), R"({"id": "b", "amount": 3, "unknown": [1]})");
    const recorder<std::string> handled;
    auto consuming = running(on.group().add<orders>([handled](const order& got) {
        handled.add(got.id);
        return ack;
    }));
    EXPECT_EQ(handled.wait(1, "the good one").front(), "b");
    const auto letter = on.take_dead(raw_orders(), 1).front();
    EXPECT_NE(letter.last_error.find("amount"), std::string::npos) << letter.last_error;
}

void typed_letter(stage& on) {
    on.broker().declare<orders>();
    on.publisher().publish<orders>({"ORD-1", 5});
    auto consuming = running(on.group().add<orders>([](const order&) { return reject("sold out"); }));
    const recorder<letter_note> letters;
    auto burying = running(on.group().add_dead<orders>([letters](const dead_letter<order>& letter) {
        letters.add({letter.message != nullptr, letter.message ? letter.message->id : "", "", copy_of(letter.info)});
        return ack;
    }));
    const auto letter = letters.wait(1, "the letter").front();
    EXPECT_TRUE(letter.decoded);
    EXPECT_EQ(letter.order_id, "ORD-1");
    EXPECT_EQ(letter.info.last_error, "sold out");
}

void dies_again_after_replay(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    kill_one(on, topic);
    EXPECT_EQ(on.broker().admin().replay(dead_queue_of(topic), "", {}).done, 1U);
    const probe handler(retry);
    auto consuming = on.consume(topic, handler, consumer_options{.max_retries = 2});
    const auto letter = on.take_dead(topic, 1).front();
    EXPECT_EQ(handler.size(), 3U) << "a replay has its whole budget again";
    EXPECT_EQ(letter.death->reason, "max_retries_exceeded");
    EXPECT_EQ(letter.headers.view().find("x-shove-replays")->as_integer(), 1);
}

}  // namespace

void add_dead_letter_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"dead", "rejected", &rejected},
                            {"dead", "rejected_after_retries", &rejected_after_retries},
                            {"dead", "discarded_without_dlq", &discarded_without_dlq},
                            {"dead", "handler_that_throws_keeps", &handler_that_throws_keeps},
                            {"dead", "other_answers_keep", &other_answers_keep},
                            {"dead", "many_letters", &many_letters},
                            {"dead", "typed_letter", &typed_letter},
                            {"dead", "dies_again_after_replay", &dies_again_after_replay, {needs_admin}},
                        });
}

void add_poison_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"poison", "undecodable", &undecodable},
                            {"poison", "missing_field", &missing_field},
                        });
}

}  // namespace shove::testkit
