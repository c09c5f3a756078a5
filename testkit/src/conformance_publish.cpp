#include "stage.hpp"

#include <algorithm>
#include <thread>

namespace shove::testkit {
namespace {

void confirmed(stage& on) {
    const auto topic = on.topic();
    const auto receipt = on.publisher().publish(topic, "SECRET-stored");
    EXPECT_FALSE(receipt.id().empty());
    EXPECT_EQ(on.broker().depth(queue_of(topic)).ready, 1U) << "confirmed, but not there";
    const auto got = on.take(topic, 1);
    EXPECT_EQ(got.front().payload, "SECRET-stored");
    EXPECT_EQ(got.front().id, receipt.id());
}

void batch_in_order(stage& on) {
    const auto topic = on.topic();
    std::vector<std::string> bodies;
    const auto report = on.publisher().publish_batch(topic, numbered(bodies, 200));
    ASSERT_EQ(report.each.size(), 200U);
    EXPECT_TRUE(report.all_stored());
    EXPECT_FALSE(report.first_error());
    EXPECT_TRUE(report.to_republish().empty());
    const probe handler;
    auto consuming = on.consume(topic, handler, consumer_options{}.sequential());
    const auto got = handler.wait(200);
    EXPECT_EQ(payloads(got), bodies) << "a batch is handed out in order";
    for (std::size_t i = 0; i < got.size(); ++i)
        EXPECT_EQ(got[i].id, report.each[i].id);
}

/// One message that cannot be sent among good ones.
void expect_one_refused(stage& on, const runtime_topic& topic, const publish_options& bad, std::string_view body,
                        errc expected) {
    const std::vector<any_publisher::raw_outgoing> batch{{"SECRET-first", {}}, {body, bad}, {"SECRET-third", {}}};
    const auto report = on.publisher().publish_batch(topic, batch);
    ASSERT_EQ(report.each.size(), 3U);
    EXPECT_EQ(report.each[0].status, publish_status::ok) << report.each[0].cause.message();
    EXPECT_EQ(report.each[1].status, publish_status::failed);
    EXPECT_EQ(report.each[2].status, publish_status::ok) << report.each[2].cause.message();
    EXPECT_EQ(report.each[1].cause, expected) << report.each[1].cause.message();
    EXPECT_EQ(report.first_error(), expected);
    EXPECT_EQ(report.to_republish(), std::vector<std::size_t>{1});
    EXPECT_FALSE(report.all_stored());
    EXPECT_EQ(payloads(on.take(topic, 2)), (std::vector<std::string>{"SECRET-first", "SECRET-third"}));
}

void bad_header_in_batch(stage& on) {
    publish_options bad;
    bad.headers.add("x-retry-count", 3);
    expect_one_refused(on, on.topic(), bad, "SECRET-bad", errc::reserved_header);
}

void bad_body_in_batch(stage& on) {
    auto topic = on.topic();
    topic.check = [](std::span<const std::byte> bytes) -> result<void> {
        if (text_of(bytes) == "SECRET-bad") return error(errc::encode_failed, "not a body");
        return {};
    };
    expect_one_refused(on, topic, {}, "SECRET-bad", errc::encode_failed);
}

void empty_batch(stage& on) {
    const auto topic = on.topic();
    const auto report = on.publisher().publish_batch(topic, {});
    EXPECT_TRUE(report.each.empty());
    EXPECT_TRUE(report.all_stored());
    EXPECT_FALSE(report.first_error());
    EXPECT_EQ(on.broker().depth(queue_of(topic)).ready, 0U);
}

void empty_body(stage& on) {
    const auto topic = on.topic();
    on.publisher().publish(topic, "");
    const auto got = on.take(topic, 1);
    EXPECT_TRUE(got.front().payload.empty());
    EXPECT_TRUE(got.front().headers.empty());
    EXPECT_FALSE(got.front().id.empty());
}

void large_body(stage& on) {
    const auto topic = on.topic();
    const auto body = every_byte(900 * 1024);
    on.publisher().publish(topic, body);
    const auto got = on.take(topic, 1);
    EXPECT_TRUE(got.front().payload == body) << "the bytes changed";
}

void large_batch(stage& on) {
    const auto topic = on.topic();
    std::vector<std::string> bodies;
    const auto batch = numbered(bodies, 1500);
    ASSERT_TRUE(on.publisher().publish_batch(topic, batch).all_stored());
    auto got = payloads(on.take(topic, 1500));
    std::ranges::sort(got);
    std::ranges::sort(bodies);
    EXPECT_EQ(got, bodies);
}

struct note {
    std::string text;
    int number = 0;
};
BOOST_DESCRIBE_STRUCT(note, (), (text, number))

struct typed_notes : shove::topic<note> {
    static constexpr auto topology = shove::topology("testkit-typed-notes").dlq();
};

void typed(stage& on) {
    on.broker().declare<typed_notes>();
    const recorder<note> notes;
    const recorder<seen> infos;
    auto consuming = running(on.group().add<typed_notes>([notes, infos](const note& got, const delivery& info) {
        infos.add(copy_of(info));
        notes.add(got);
        return ack;
    }));
    on.publisher().publish<typed_notes>({"one \xe2\x82\xac", 1});
    const std::vector<note> more{{"two", 2}, {"three", 3}};
    EXPECT_TRUE(on.publisher().publish_batch<typed_notes>(more).all_stored());
    auto got = notes.wait(3, "notes");
    std::ranges::sort(got, {}, &note::number);
    EXPECT_EQ(got[0].text, "one \xe2\x82\xac");
    EXPECT_EQ(got[2].text, "three");
    const auto info = infos.all().front();
    EXPECT_EQ(info.content_type, "application/json");
    EXPECT_NE(info.type.find("note"), std::string::npos) << info.type;
}

void parallel_publishers(stage& on) {
    const auto topic = on.topic();
    const auto publisher = on.publisher();
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 50; ++i)
                publisher.publish(topic, std::to_string(t) + "/" + std::to_string(i) + " SECRET");
        });
    }
    threads.clear();
    EXPECT_EQ(on.broker().depth(queue_of(topic)).ready, 200U);
    const probe handler;
    auto consuming = on.consume(topic, handler, consumer_options{}.sequential());
    std::vector<int> next(4, 0);
    for (const auto& each : handler.wait(200)) {
        const auto slash = each.payload.find('/');
        const auto t = static_cast<std::size_t>(std::stoi(each.payload.substr(0, slash)));
        EXPECT_EQ(std::stoi(each.payload.substr(slash + 1)), next[t]++) << "out of a publisher's order";
    }
}

}  // namespace

void add_publish_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"publish", "confirmed", &confirmed},
                            {"publish", "batch_in_order", &batch_in_order},
                            {"publish", "bad_header_in_batch", &bad_header_in_batch},
                            {"publish", "bad_body_in_batch", &bad_body_in_batch},
                            {"publish", "empty_batch", &empty_batch},
                            {"publish", "empty_body", &empty_body},
                            {"publish", "large_body", &large_body},
                            {"publish", "large_batch", &large_batch},
                            {"publish", "typed", &typed},
                            {"publish", "parallel_publishers", &parallel_publishers},
                        });
}

}  // namespace shove::testkit
