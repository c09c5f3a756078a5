#include "stage.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace shove::testkit {
namespace {

const std::string all_bytes = every_byte(256);

shove::headers rich_headers() {
    shove::headers made;
    made.add("text", "plain")
        .add("unicode \xe2\x82\xac", "\xf0\x9f\xa6\x80 and \xc3\xa9")
        .add("empty", "")
        .add("smallest", std::numeric_limits<std::int64_t>::min())
        .add("largest", std::numeric_limits<std::int64_t>::max())
        .add("floating", 0.1)
        .add("tiny", std::numeric_limits<double>::denorm_min())
        .add("yes", true)
        .add("no", false)
        .add("binary", std::as_bytes(std::span(all_bytes)))
        .add("repeated", "first")
        .add("repeated", "second")
        .add("Repeated", 3);
    return made;
}

/// As a list; by name where the broker sorts them.
std::vector<header> listed(const stage& on, const headers_view& all) {
    std::vector<header> made(all.begin(), all.end());
    if (on.factory().capabilities.sorts_headers) std::ranges::stable_sort(made, {}, &header::name);
    return made;
}

void expect_rich(const stage& on, const headers_view& got) {
    const auto sent = rich_headers();
    const auto found = listed(on, got);
    const auto expected = listed(on, sent.view());
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].name, expected[i].name);
        EXPECT_EQ(found[i].value.type(), expected[i].value.type()) << found[i].name;
        EXPECT_TRUE(found[i].value == expected[i].value) << found[i].name;
    }
}

void typed_round_trip(stage& on) {
    const auto topic = on.topic();
    publish_options how;
    how.headers = rich_headers();
    on.publisher().publish(topic, a_body, how);
    expect_rich(on, on.take(topic, 1).front().headers.view());
}

void through_failure(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    publish_options how;
    how.headers = rich_headers();
    on.publisher().publish(topic, a_body, how);
    const probe handler([](const seen& call, const delivery&) { return call.attempt < 3 ? retry : reject; });
    auto consuming = on.consume(topic, handler);
    for (const auto& call : handler.wait(3))
        expect_rich(on, call.headers.view());
    expect_rich(on, on.take_dead(topic, 1).front().headers.view());
}

void each_of_a_batch(stage& on) {
    const auto topic = on.topic();
    std::vector<std::string> bodies;
    auto batch = numbered(bodies, 20);
    for (std::size_t i = 0; i < batch.size(); ++i) {
        batch[i].options.headers.add("place", static_cast<std::int64_t>(i));
        batch[i].options.key = "key" + std::to_string(i);
    }
    ASSERT_TRUE(on.publisher().publish_batch(topic, batch).all_stored());
    for (const auto& each : on.take(topic, 20)) {
        const auto place = each.headers.view().find("place")->as_integer();
        EXPECT_EQ(numbered_body(static_cast<std::size_t>(*place)), each.payload);
        EXPECT_EQ("key" + std::to_string(*place), each.key);
    }
}

void many_and_long(stage& on) {
    const auto topic = on.topic();
    publish_options how;
    const std::string value(10'000, 'v');
    const auto many = std::min<std::size_t>(50, on.factory().capabilities.max_header_bytes / (value.size() + 10));
    for (std::size_t i = 0; i < many; ++i)
        how.headers.add("name-" + std::to_string(i), value);
    on.publisher().publish(topic, a_body, how);
    const auto got = on.take(topic, 1).front();
    ASSERT_EQ(got.headers.view().size(), many);
    EXPECT_EQ(got.headers.view().text("name-" + std::to_string(many - 1)), value);
}

void no_key(stage& on) {
    const auto topic = on.topic();
    on.publisher().publish(topic, "SECRET-without");
    EXPECT_EQ(on.take(topic, 1).front().key, std::nullopt);
    publish_options how;
    how.key = "";
    on.publisher().publish(topic, "with an empty one", how);
    EXPECT_EQ(on.take(topic, 1).front().key, "") << "an empty key is a key";
}

void metadata(stage& on) {
    auto topic = on.topic();
    topic.content_type = "text/x-note; charset=utf-8";
    topic.type = "app::note";
    const auto before = std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
    publish_options how;
    how.key = "k1";
    on.publisher().publish(topic, a_body, how);
    const auto got = on.take(topic, 1).front();
    const auto after = std::chrono::system_clock::now();
    EXPECT_EQ(got.queue, queue_of(topic));
    EXPECT_EQ(got.attempt, 1U);
    EXPECT_FALSE(got.redelivered) << "a first delivery";
    EXPECT_GE(got.published_at, before - 1s);
    EXPECT_LE(got.published_at, after + 1s);
    EXPECT_GE(got.age, 0ms);
    EXPECT_LT(got.age, patience());
    EXPECT_EQ(got.content_type, "text/x-note; charset=utf-8");
    EXPECT_EQ(got.type, "app::note");
    EXPECT_EQ(got.key, "k1");
    EXPECT_TRUE(got.first_error.empty());
    EXPECT_EQ(got.retries, 0U);
    EXPECT_EQ(got.expires_at, std::nullopt);
    EXPECT_FALSE(got.death);
}

}  // namespace

void add_header_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"headers", "typed_round_trip", &typed_round_trip},
                            {"headers", "through_failure", &through_failure},
                            {"headers", "each_of_a_batch", &each_of_a_batch},
                            {"headers", "many_and_long", &many_and_long},
                            {"headers", "no_key", &no_key},
                            {"headers", "metadata", &metadata},
                        });
}

}  // namespace shove::testkit
