#include "stage.hpp"

#include <algorithm>
#include <set>

namespace shove::testkit {
namespace {

void survives_reopening(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    publish_options how;
    how.key = "k";
    how.headers.add("number", 5);
    const auto body = every_byte(5000);
    const auto id = on.publisher().publish(topic, body, how).id();
    on.reopen();
    EXPECT_EQ(on.broker().depth(queue_of(topic)).ready, 1U) << "known without being declared again";
    const auto got = on.take(topic, 1).front();
    EXPECT_EQ(got.id, id);
    EXPECT_TRUE(got.payload == body);
    EXPECT_EQ(got.key, "k");
    EXPECT_EQ(got.headers.view().find("number")->as_integer(), 5);
    EXPECT_FALSE(got.redelivered);
}

void history_survives_reopening(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(20ms).dlq(); });
    on.publisher().publish(topic, a_body);
    for (std::uint32_t attempt = 1; attempt <= 3; ++attempt) {
        const probe handler(
            [](const seen& call, const delivery&) { return retry("no. " + std::to_string(call.attempt)); });
        auto consuming = on.consume(topic, handler, consumer_options{.max_retries = 2});
        EXPECT_EQ(handler.wait(1).front().attempt, attempt);
        consuming.stop();
        on.reopen();
    }
    const auto letter = on.take_dead(topic, 1).front();
    EXPECT_EQ(letter.death->reason, "max_retries_exceeded");
    EXPECT_EQ(letter.first_error, "no. 1");
    EXPECT_EQ(letter.last_error, "no. 3");
}

void delay_survives_reopening(stage& on) {
    const auto topic = on.topic();
    const auto from = std::chrono::steady_clock::now();
    on.publisher().publish(topic, "SECRET-soon", delayed(300ms));
    on.publisher().publish(topic, "much later", delayed(1h));
    on.reopen();
    const auto got = on.take(topic, 1);
    EXPECT_EQ(got.front().payload, "SECRET-soon");
    EXPECT_GE(got.front().called_at - from, 290ms) << "the delay was forgotten";
    EXPECT_EQ(on.broker().depth(queue_of(topic)).delayed, 1U);
}

void two_brokers_share(stage& on) {
    const auto topic = on.topic();
    auto other = on.store().open({});
    const probe here;
    const probe there;
    auto consuming = on.consume(topic, here);
    running over_there(other.consumer_group().add(topic, there));
    std::vector<std::string> bodies;
    for (int i = 0; i < 20; ++i) {
        auto batch = numbered(bodies, 10);
        ASSERT_TRUE((i % 2 ? other : on.broker()).publisher().publish_batch(topic, batch).all_stored());
    }
    eventually("all handled", [&] { return here.size() + there.size() >= 200; });
    on.wait_empty(queue_of(topic));
    std::set<std::string> ids;
    for (const auto& each : here.all())
        ids.insert(each.id);
    for (const auto& each : there.all())
        ids.insert(each.id);
    EXPECT_EQ(ids.size(), 200U);
    EXPECT_EQ(here.size() + there.size(), 200U) << "handled twice";
    EXPECT_TRUE(over_there.stop().clean());
}

void other_broker_wakes_consumer(stage& on) {
    const auto topic = on.topic();
    auto other = on.store().open({});
    const probe handler;
    auto consuming = on.consume(topic, handler);
    for (std::size_t i = 1; i <= 3; ++i) {
        const auto from = std::chrono::steady_clock::now();
        other.publisher().publish(topic, a_body);
        handler.wait(i, "a message of another broker");
        EXPECT_LT(std::chrono::steady_clock::now() - from, 5s);
    }
}

}  // namespace

void add_durability_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"durability", "survives_reopening", &survives_reopening, {needs_durable}},
                            {"durability", "history_survives_reopening", &history_survives_reopening, {needs_durable}},
                            {"durability",
                             "delay_survives_reopening",
                             &delay_survives_reopening,
                             {needs_durable, needs_delayed_publish}},
                            {"durability", "two_brokers_share", &two_brokers_share, {needs_durable, needs_processes}},
                            {"durability",
                             "other_broker_wakes_consumer",
                             &other_broker_wakes_consumer,
                             {needs_durable, needs_processes}},
                        });
}

}  // namespace shove::testkit
