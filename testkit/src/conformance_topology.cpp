#include "stage.hpp"

#include <algorithm>

namespace shove::testkit {
namespace {

void declare_twice(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(10ms).dlq(); });
    on.publisher().publish(topic, "SECRET-kept");
    on.broker().declare(topic);
    EXPECT_EQ(on.broker().depth(queue_of(topic)).ready, 1U) << "declaring again changed the queue";
    EXPECT_EQ(payloads(on.take(topic, 1)), std::vector<std::string>{"SECRET-kept"});
}

void undeclared_publish(stage& on) {
    const auto topic = on.undeclared([](auto t) { return t; });
    const auto refused = on.publisher().try_publish(topic, "SECRET-nowhere");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), errc::unknown_queue) << refused.error().message();
    EXPECT_NE(refused.error().message().find(queue_of(topic)), std::string::npos) << refused.error().message();
    on.broker().declare(topic);
    EXPECT_EQ(on.broker().depth(queue_of(topic)).ready, 0U) << "the refused message is there";
}

void undeclared_batch(stage& on) {
    const auto topic = on.undeclared([](auto t) { return t; });
    std::vector<std::string> bodies;
    const auto report = on.publisher().publish_batch(topic, numbered(bodies, 3));
    ASSERT_EQ(report.each.size(), 3U);
    EXPECT_EQ(report.count(publish_status::ok), 0U);
    EXPECT_EQ(report.first_error(), errc::unknown_queue);
    EXPECT_EQ(report.to_republish().size(), 3U);
}

void derived_names(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(5s).hold(1500ms).dlq(); });
    const auto& made = *topic.topology;
    EXPECT_EQ(made.dead_letter_queue, made.queue + "-dlq");
    ASSERT_EQ(made.holds.size(), 2U);
    EXPECT_EQ(made.holds[0].queue, made.queue + "-hold-5s");
    EXPECT_EQ(made.holds[1].queue, made.queue + "-hold-1500ms");
    EXPECT_EQ(on.broker().depth(made.dead_letter_queue).ready, 0U) << "declaring makes the dead-letter queue";
}

void dlq_named(stage& on) {
    const auto name = on.fresh_name("letters");
    const auto topic = on.topic([&](auto t) { return t.dlq_named(name); });
    on.publisher().publish(topic, "SECRET-bad");
    const probe handler(reject);
    auto consuming = on.consume(topic, handler);
    handler.wait(1);
    on.wait_ready(name, 1);
    EXPECT_TRUE(consuming.stop().clean());
    const auto letters = on.take_dead(topic, 1);
    EXPECT_EQ(letters.front().queue, name);
    EXPECT_THROW((void)on.broker().depth(queue_of(topic) + "-dlq"), exception) << "the derived name was made, too";
}

void shared_dlq(stage& on) {
    const auto name = on.fresh_name("letters");
    const auto one = on.topic([&](auto t) { return t.dlq_named(name); });
    const auto two = on.topic([&](auto t) { return t.dlq_named(name); });
    on.publisher().publish(one, "of one");
    on.publisher().publish(two, "of two");
    const probe handler(reject);
    auto consuming = running(on.group().add(one, handler).add(two, handler));
    on.wait_ready(name, 2);
    consuming.stop();
    for (const auto& letter : on.take_dead(one, 2)) {
        ASSERT_TRUE(letter.death);
        EXPECT_EQ(letter.death->original_queue, letter.payload == "of one" ? queue_of(one) : queue_of(two));
    }
}

/// A broken topology and a word of the remedy.
struct broken {
    shove::topology spec;
    std::string_view remedy;
};

void broken_rules(stage&) {
    const std::string long_name(201, 'n');
    const broken all[] = {
        {shove::topology(""), "give it one"},
        {shove::topology(long_name), "shorten"},
        {shove::topology("with space"), "printable ASCII"},
        {shove::topology("caf\xc3\xa9"), "printable ASCII"},
        {shove::topology("orders").hold(0ms), "make it longer"},
        {shove::topology("orders").dlq_named("orders"), "another name"},
        {shove::topology("orders").for_consumer_group(" "), "give it one"},
        {shove::topology("orders").broadcast().dlq(), "remove them"},
        {shove::topology("orders").external().sequenced(sequence_failure::skip).allow_message_loss(), "remove one"},
        {shove::topology("orders").sequenced(sequence_failure::skip), "add them"},
        {shove::topology("orders").sequenced(sequence_failure::skip).routing_shards(0).dlq().hold(1s), "at least 1"},
        {shove::topology("orders").routing_shards(4), "add it"},
    };
    for (const auto& each : all) {
        const auto made = runtime_topic::make(each.spec);
        ASSERT_FALSE(made) << each.remedy;
        EXPECT_EQ(made.error(), errc::invalid_topology);
        EXPECT_NE(made.error().message().find("'" + std::string(each.spec.queue()) + "'"), std::string::npos)
            << "no queue in: " << made.error().message();
        EXPECT_NE(made.error().message().find(each.remedy), std::string::npos) << made.error().message();
    }
}

void depth_counts(stage& on) {
    const auto topic = on.topic();
    std::vector<std::string> bodies;
    ASSERT_TRUE(on.publisher().publish_batch(topic, numbered(bodies, 5)).all_stored());
    const gate hold;
    const probe handler([hold](const seen&, const delivery&) {
        hold.arrive();
        return ack;
    });
    auto consuming = on.consume(topic, handler, consumer_options{.prefetch = 2});
    const opens_at_exit opener(hold);
    hold.arrivals().wait(2, "two calls");
    const auto depth = on.broker().depth(queue_of(topic));
    EXPECT_EQ(depth.in_flight, 2U);
    EXPECT_EQ(depth.ready, 3U);
    hold.open();
    handler.wait(5);
    on.wait_empty(queue_of(topic));
}

void depth_counts_delayed(stage& on) {
    const auto topic = on.topic();
    on.publisher().publish(topic, "SECRET-later", delayed(1h));
    const auto depth = on.broker().depth(queue_of(topic));
    EXPECT_EQ(depth.delayed, 1U);
    EXPECT_EQ(depth.ready, 0U);
}

void depth_of_unknown(stage& on) {
    const auto name = on.fresh_name("unknown");
    try {
        (void)on.broker().depth(name);
        ADD_FAILURE() << "the depth of an undeclared queue";
    } catch (const exception& e) {
        EXPECT_EQ(e.cause(), errc::unknown_queue) << e.what();
        EXPECT_NE(std::string(e.what()).find(name), std::string::npos) << e.what();
    }
}

void consume_declares(stage& on) {
    const auto topic = on.undeclared([](auto t) { return t.dlq(); });
    const probe handler;
    auto consuming = on.consume(topic, handler);
    on.publisher().publish(topic, "declared by the group");
    EXPECT_EQ(handler.wait(1).front().payload, "declared by the group");
}

void unsupported_topologies(stage& on) {
    const auto& can = on.factory().capabilities;
    const auto refused = [&](const runtime_topic& topic) {
        try {
            on.broker().declare(topic);
        } catch (const exception& e) {
            return e.cause() == errc::unsupported;
        }
        return false;
    };
    const auto sequenced = on.undeclared([](auto t) { return t.sequenced(sequence_failure::skip).hold(1s).dlq(); });
    const auto broadcast = on.undeclared([](auto t) { return t.broadcast(); });
    const auto reader = on.undeclared([](auto t) { return t.for_consumer_group("reader"); });
    const auto external = on.undeclared([](auto t) { return t.external(); });
    EXPECT_TRUE(can.key_order || refused(sequenced)) << "sequenced";
    EXPECT_TRUE(can.broadcast || refused(broadcast)) << "broadcast";
    EXPECT_TRUE(can.reader_groups || refused(reader)) << "reader group";
    EXPECT_TRUE(can.external_topology || refused(external)) << "external";
}

}  // namespace

void add_topology_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"topology", "declare_twice", &declare_twice},
                            {"topology", "undeclared_publish", &undeclared_publish},
                            {"topology", "undeclared_batch", &undeclared_batch},
                            {"topology", "derived_names", &derived_names},
                            {"topology", "dlq_named", &dlq_named},
                            {"topology", "shared_dlq", &shared_dlq},
                            {"topology", "broken_rules", &broken_rules},
                            {"topology", "depth_counts", &depth_counts},
                            {"topology", "depth_counts_delayed", &depth_counts_delayed, {needs_delayed_publish}},
                            {"topology", "depth_of_unknown", &depth_of_unknown},
                            {"topology", "consume_declares", &consume_declares},
                            {"topology", "unsupported_topologies", &unsupported_topologies},
                        });
}

}  // namespace shove::testkit
