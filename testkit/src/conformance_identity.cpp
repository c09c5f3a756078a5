#include "stage.hpp"

#include <algorithm>
#include <set>

namespace shove::testkit {
namespace {

bool is_uuid(std::string_view id) {
    if (id.size() != 36) return false;
    for (std::size_t i = 0; i < id.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        const bool hex = (id[i] >= '0' && id[i] <= '9') || (id[i] >= 'a' && id[i] <= 'f');
        if (dash ? id[i] != '-' : !hex) return false;
    }
    return true;
}

void generated_id(stage& on) {
    const auto topic = on.topic();
    std::vector<std::string> bodies;
    const auto report = on.publisher().publish_batch(topic, numbered(bodies, 100));
    const auto single = on.publisher().publish(topic, "one more").id();
    std::set<std::string> ids{single};
    for (const auto& each : report.each)
        ids.insert(each.id);
    EXPECT_EQ(ids.size(), 101U) << "ids repeat";
    for (const auto& id : ids)
        EXPECT_TRUE(is_uuid(id)) << id;
    std::set<std::string> got;
    for (const auto& each : on.take(topic, 101))
        got.insert(each.id);
    EXPECT_EQ(got, ids);
}

void own_id(stage& on) {
    const auto topic = on.topic();
    const std::string longest(255, 'x');
    const std::string uuid = "0190C2F0-0000-7000-8000-00000000ABCD";  // upper case: not the canonical form
    for (const auto& id : {std::string("order 7/\xc3\xa9"), longest, uuid}) {
        publish_options how;
        how.id = id;
        EXPECT_EQ(on.publisher().publish(topic, a_body, how).id(), id);
        EXPECT_EQ(on.take(topic, 1).front().id, id);
    }
}

void same_id_twice(stage& on) {
    const auto topic = on.topic();
    publish_options how;
    how.id = "twice";
    on.publisher().publish(topic, "SECRET-first", how);
    on.publisher().publish(topic, "SECRET-second", how);
    EXPECT_EQ(on.take(topic, 2).size(), 2U) << "a repeated id is the application's matter";
}

/// Everything of a message that must survive: G5 and G6.
publish_options full_options() {
    publish_options how;
    how.key = "key \xe2\x82\xac";
    how.headers.add("text", "v\xc3\xa4lue").add("number", std::int64_t{-5}).add("traceparent", "00-0af7-b7ad-01");
    return how;
}

void expect_same(const seen& got, const std::string& id, const std::string& body, const publish_options& how) {
    EXPECT_EQ(got.id, id);
    EXPECT_TRUE(got.payload == body);
    EXPECT_EQ(got.key, how.key);
    EXPECT_EQ(got.headers.view().text("traceparent"), how.headers.view().text("traceparent"));
    EXPECT_EQ(got.headers.view().find("number")->as_integer(), -5);
}

void kept_through_retries_and_death(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    const auto how = full_options();
    const auto body = every_byte(4096);
    const auto id = on.publisher().publish(topic, body, how).id();
    const probe handler([](const seen& call, const delivery&) { return call.attempt < 4 ? retry : reject; });
    auto consuming = on.consume(topic, handler);
    for (const auto& call : handler.wait(4))
        expect_same(call, id, body, how);
    const auto published = handler.all().front().published_at;
    const auto letter = on.take_dead(topic, 1).front();
    expect_same(letter, id, body, how);
    EXPECT_EQ(letter.headers.view().size(), how.headers.view().size()) << "headers were added";
    EXPECT_EQ(letter.published_at, published);
}

void kept_through_defer(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms); });
    const auto how = full_options();
    const auto id = on.publisher().publish(topic, a_body, how).id();
    const counter calls;
    const probe handler([calls](const seen&, const delivery&) { return calls.add() < 4 ? defer : ack; });
    auto consuming = on.consume(topic, handler);
    for (const auto& call : handler.wait(4))
        expect_same(call, id, a_body, how);
}

void kept_through_replay(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    const auto how = full_options();
    const auto body = every_byte(2048);
    const auto id = on.publisher().publish(topic, body, how).id();
    {
        const probe handler(reject);
        auto consuming = on.consume(topic, handler);
        on.wait_ready(dead_queue_of(topic), 1);
    }
    EXPECT_EQ(on.broker().admin().replay(dead_queue_of(topic), "", {}).done, 1U);
    EXPECT_EQ(on.broker().depth(dead_queue_of(topic)).ready, 0U);
    const auto again = on.take(topic, 1).front();
    expect_same(again, id, body, how);
    EXPECT_EQ(again.attempt, 1U) << "a replay starts anew";
    EXPECT_EQ(again.headers.view().find("x-shove-replays")->as_integer(), 1);
}

void large_body_to_death(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    const auto body = every_byte(900 * 1024);
    on.publisher().publish(topic, body);
    const probe handler([body](const seen& call, const delivery&) { return call.payload == body ? retry : ack; });
    auto consuming = on.consume(topic, handler, consumer_options{.max_retries = 10});
    EXPECT_EQ(handler.wait(11).size(), 11U);
    EXPECT_TRUE(on.take_dead(topic, 1).front().payload == body) << "the bytes changed on the way";
}

}  // namespace

void add_identity_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"identity", "generated_id", &generated_id},
                            {"identity", "own_id", &own_id},
                            {"identity", "same_id_twice", &same_id_twice},
                            {"identity", "kept_through_retries_and_death", &kept_through_retries_and_death},
                            {"identity", "kept_through_defer", &kept_through_defer},
                            {"identity", "kept_through_replay", &kept_through_replay, {needs_admin}},
                            {"identity", "large_body_to_death", &large_body_to_death},
                        });
}

}  // namespace shove::testkit
