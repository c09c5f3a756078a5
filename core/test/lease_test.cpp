// Leases: what can be told without a store.

#include <shove/detail/lease_rules.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <vector>

namespace shove {
namespace {

std::string hex(const spi::fingerprint& bytes) {
    std::string text;
    for (const auto byte : bytes) {
        constexpr const char* digits = "0123456789abcdef";
        text += digits[std::to_integer<int>(byte) >> 4];
        text += digits[std::to_integer<int>(byte) & 15];
    }
    return text;
}

lease_message vector_message() {
    lease_message made;
    made.topic = "events";
    made.event_kind = "event.created";
    made.content_type = "application/json";
    made.payload = R"({"id":42})";
    return made;
}

// Both digests were made by rullst-messaging.
TEST(lease_fingerprint, of_the_reference) {
    auto message = vector_message();
    EXPECT_EQ(hex(detail::fingerprint_of(message)), "1516748c475ee84071cc7fef0f1fe61f3764a4e7aac5266a57840a108d5fc38e");
    message.headers.add("attempt", "1").add("tenant-hint", "opaque \"q\" é");
    EXPECT_EQ(hex(detail::fingerprint_of(message)), "943ac69395fc5731ce179699025494a5930d8370b54fff48bf0fc99b7ebcceb7");
}

TEST(lease_fingerprint, the_key_is_not_in_it) {
    auto message = vector_message();
    const auto one = detail::fingerprint_of(message);
    message.idempotency_key = "other";
    EXPECT_EQ(detail::fingerprint_of(message), one);
    message.event_kind = "event.create";
    message.content_type = "dapplication/json";
    EXPECT_NE(detail::fingerprint_of(message), one) << "a byte that moves from field to field is seen";
}

TEST(lease_fingerprint, of_a_key_is_the_same_for_good) {
    EXPECT_EQ(detail::key_hash("events", "k"), detail::key_hash("events", "k"));
    EXPECT_NE(detail::key_hash("events", "k"), detail::key_hash("event", "sk"));
}

TEST(lease_ids, are_random_and_of_their_version) {
    std::array<detail::random_16, 1'000> ids{};
    detail::random_source random;
    ASSERT_FALSE(random.fill_uuids(ids));
    std::set<std::string> texts;
    for (const auto& each : ids) {
        const auto text = message_id(each).text();
        EXPECT_EQ(text[4 + 12], '4');
        EXPECT_NE(std::string("89ab").find(text[4 + 16]), std::string::npos) << text;
        EXPECT_EQ(message_id::parse(text).value(), message_id(each));
        texts.insert(text);
    }
    EXPECT_EQ(texts.size(), 1'000U);
}

TEST(lease_ids, only_their_one_spelling_is_read) {
    const std::string good = "msg_0123456789abcdef0123456789abcdef";
    ASSERT_TRUE(message_id::parse(good));
    const std::vector<std::string> wrong{good.substr(0, 35), good + "0", "ack_" + good.substr(4),
                                         "msg_0123456789ABCDEF0123456789abcdef",
                                         "msg_0123456789abcdeg0123456789abcdef"};
    for (const auto& bad : wrong) {
        EXPECT_FALSE(message_id::parse(bad)) << bad;
    }
}

TEST(lease_times, that_do_not_fit) {
    EXPECT_EQ(detail::later_ms(5, milliseconds(7)).value(), 12);
    const auto most = std::numeric_limits<std::int64_t>::max() / 1000;
    EXPECT_EQ(detail::later_ms(most - 1, milliseconds(1)).value(), most);
    EXPECT_EQ(detail::later_ms(most, milliseconds(1)).error(), errc::clock_out_of_range);
}

}  // namespace
}  // namespace shove
