#include "stage.hpp"

#include <cctype>
#include <thread>

namespace shove::testkit {
namespace {

std::string upper(std::string text) {
    for (auto& c : text)
        c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

void reserved_headers(stage& on) {
    const auto topic = on.topic();
    for (const auto prefix : reserved_header_prefixes()) {
        auto mixed = std::string(prefix) + "-More";
        mixed[0] = 'X';
        for (const auto& name : {std::string(prefix), upper(std::string(prefix)), mixed}) {
            publish_options how;
            how.headers.add(name, "SECRET-mine");
            const auto refused = on.publisher().try_publish(topic, a_body, how);
            ASSERT_FALSE(refused) << name << " was accepted";
            EXPECT_EQ(refused.error(), errc::reserved_header) << name;
            EXPECT_NE(refused.error().message().find(name), std::string::npos) << refused.error().message();
        }
    }
    EXPECT_EQ(on.broker().depth(queue_of(topic)).ready, 0U) << "a refused message was sent";
}

void similar_headers_allowed(stage& on) {
    const auto topic = on.topic();
    publish_options how;
    for (const auto* name : {"x-original-queue", "x-trace-id", "shard", "traceparent", "my-x-death"})
        how.headers.add(name, "v");
    on.publisher().publish(topic, a_body, how);
    EXPECT_EQ(on.take(topic, 1).front().headers.view().size(), 5U);
}

void long_id_refused(stage& on) {
    const auto topic = on.topic();
    publish_options how;
    how.id = std::string(256, 'i');
    const auto refused = on.publisher().try_publish(topic, a_body, how);
    ASSERT_FALSE(refused);
    EXPECT_TRUE(refused.error() == errc::too_large || refused.error() == errc::invalid_argument)
        << refused.error().message();
    EXPECT_EQ(on.broker().depth(queue_of(topic)).ready, 0U);
}

struct picky {
    static constexpr std::string_view content_type = "text/picky";
    static result<void> encode(const std::string& in, std::string& out) {
        if (in == "SECRET-refused") return error(errc::encode_failed, "picky refuses it");
        out += in;
        return {};
    }
    static result<void> decode(std::span<const std::byte> bytes, std::string& into, decode_scratch& scratch) {
        return raw::decode(bytes, into, scratch);
    }
};

struct picky_topic : shove::topic<std::string, picky> {
    static constexpr auto topology = shove::topology("testkit-picky");
};

void encode_failure(stage& on) {
    on.broker().declare<picky_topic>();
    const auto refused = on.publisher().try_publish<picky_topic>("SECRET-refused");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), errc::encode_failed);
    EXPECT_NE(refused.error().message().find("picky refuses it"), std::string::npos);
    EXPECT_THROW(on.publisher().publish<picky_topic>("SECRET-refused"), exception);
    EXPECT_EQ(on.broker().depth<picky_topic>().ready, 0U) << "something was sent";
    on.publisher().publish<picky_topic>("SECRET-fine");
    EXPECT_EQ(on.broker().depth<picky_topic>().ready, 1U);
}

struct bad_text {
    std::string text;
};
BOOST_DESCRIBE_STRUCT(bad_text, (), (text))

struct json_topic : shove::topic<bad_text> {
    static constexpr auto topology = shove::topology("testkit-json-refusals");
};

void json_encode_failure(stage& on) {
    on.broker().declare<json_topic>();
    const auto refused = on.publisher().try_publish<json_topic>({"SECRET \xff\xfe"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), errc::encode_failed);
    EXPECT_NE(refused.error().message().find("text"), std::string::npos)
        << "the path is missing: " << refused.error().message();
    EXPECT_EQ(refused.error().message().find("SECRET"), std::string::npos) << refused.error().message();
    EXPECT_EQ(on.broker().depth<json_topic>().ready, 0U);
}

void fill(stage& on, const runtime_topic& topic, std::size_t n) {
    std::vector<std::string> bodies;
    ASSERT_TRUE(on.publisher().publish_batch(topic, numbered(bodies, n)).all_stored());
}

void full_fails(stage& on) {
    on.bound(3);
    const auto topic = on.topic();
    fill(on, topic, 3);
    publish_options how;
    how.when_full = when_full::fail;
    const auto refused = on.publisher().try_publish(topic, "SECRET-fourth", how);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), errc::queue_full) << refused.error().message();
    EXPECT_TRUE(is_retryable(refused.error().code));
    EXPECT_EQ(on.broker().depth(queue_of(topic)).ready, 3U);
}

void full_waits_until_timeout(stage& on) {
    on.bound(3);
    const auto topic = on.topic();
    fill(on, topic, 3);
    const auto from = std::chrono::steady_clock::now();
    publish_options how;
    how.timeout = 60ms;
    const auto refused = on.publisher().try_publish(topic, "SECRET-fourth", how);
    EXPECT_GE(std::chrono::steady_clock::now() - from, 60ms) << "it did not wait";
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), errc::queue_full) << refused.error().message();
    EXPECT_EQ(on.take(topic, 3).size(), 3U) << "the message that timed out came all the same";
}

void full_waits_for_room(stage& on) {
    on.bound(3);
    const auto topic = on.topic();
    fill(on, topic, 3);
    const counter stored;
    std::jthread waiting([&, publisher = on.publisher()] {
        if (publisher.try_publish(topic, "SECRET-fourth")) stored.add();
    });
    EXPECT_EQ(on.take(topic, 4).size(), 4U);
    waiting.join();
    EXPECT_EQ(stored.value(), 1U);
}

void full_batch(stage& on) {
    on.bound(3);
    const auto topic = on.topic();
    std::vector<std::string> bodies;
    auto batch = numbered(bodies, 5);
    batch.front().options.when_full = when_full::fail;
    const auto report = on.publisher().publish_batch(topic, batch);
    const auto stored = report.count(publish_status::ok);
    EXPECT_LE(stored, 3U);
    EXPECT_EQ(report.to_republish().size(), 5 - stored);
    EXPECT_EQ(report.first_error(), errc::queue_full);
    EXPECT_EQ(on.broker().depth(queue_of(topic)).ready, stored) << "the report does not tell the truth";
}

void bounded_retry_does_not_block(stage& on) {
    on.bound(2);
    const auto topic = on.topic([](auto t) { return t.hold(1ms); });
    fill(on, topic, 2);
    const probe handler([](const seen& call, const delivery&) { return call.attempt < 4 ? retry : ack; });
    auto consuming = on.consume(topic, handler);
    handler.wait(8, "calls on a full queue");
    on.wait_empty(queue_of(topic));
}

}  // namespace

void add_publish_refusal_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(),
              {
                  {"refusals", "reserved_headers", &reserved_headers},
                  {"refusals", "similar_headers_allowed", &similar_headers_allowed},
                  {"refusals", "long_id_refused", &long_id_refused},
                  {"refusals", "encode_failure", &encode_failure},
                  {"refusals", "json_encode_failure", &json_encode_failure},
                  {"refusals", "full_fails", &full_fails, {needs_bounded}},
                  {"refusals", "full_waits_until_timeout", &full_waits_until_timeout, {needs_bounded}},
                  {"refusals", "full_waits_for_room", &full_waits_for_room, {needs_bounded}},
                  {"refusals", "full_batch", &full_batch, {needs_bounded}},
                  {"refusals", "bounded_retry_does_not_block", &bounded_retry_does_not_block, {needs_bounded}},
              });
}

}  // namespace shove::testkit
