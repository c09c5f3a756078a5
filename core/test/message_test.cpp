#include <shove/error.hpp>
#include <shove/message.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "../src/message/uuid_text.hpp"

namespace shove {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

message_parts full_parts(const headers& h) {
    message_parts parts;
    parts.id = "01902f6e-7b1c-7000-8000-00000000abcd";
    parts.key = "k";
    parts.content_type = "application/json";
    parts.type = "order";
    parts.payload = bytes_of("{}");
    parts.headers = h;
    parts.published_at = wall_time(std::chrono::microseconds(123456789));
    parts.expires_at = wall_time(std::chrono::microseconds(987654321));
    return parts;
}

TEST(message, keeps_every_part) {
    const headers h{{"a", "1"}, {"b", 2}};
    const auto m = message::make(full_parts(h));
    EXPECT_EQ(m.id(), "01902f6e-7b1c-7000-8000-00000000abcd");
    EXPECT_EQ(m.key(), "k");
    EXPECT_EQ(m.content_type(), "application/json");
    EXPECT_EQ(m.type(), "order");
    EXPECT_EQ(text_of(m.payload()), "{}");
    EXPECT_EQ(m.headers().text("a"), "1");
    EXPECT_EQ(m.headers().find("b")->as_integer(), 2);
    EXPECT_EQ(m.published_at().time_since_epoch().count(), 123456789);
    EXPECT_EQ(m.expires_at().time_since_epoch().count(), 987654321);
}

TEST(message, a_bare_one_has_nothing) {
    const auto m = message::make({});
    EXPECT_TRUE(m);
    EXPECT_EQ(m.id(), "");
    EXPECT_FALSE(m.key());
    EXPECT_EQ(m.content_type(), "");
    EXPECT_TRUE(m.payload().empty());
    EXPECT_TRUE(m.headers().empty());
    EXPECT_EQ(m.expires_at(), wall_time{});
}

TEST(message, an_empty_key_is_a_key) {
    message_parts parts;
    parts.key = "";
    EXPECT_EQ(message::make(parts).key(), "");
}

TEST(message, ids_that_only_look_like_uuids_stay_as_they_are) {
    for (const std::string_view id :
         {"01902F6E-7B1C-7000-8000-00000000ABCD", "01902f6e-7b1c-7000-8000-00000000abc",
          "01902f6e+7b1c-7000-8000-00000000abcd", "01902f6e-7b1c-7000-8000-00000000abcg", "order 17", "\xff\x00x"}) {
        message_parts parts;
        parts.id = id;
        EXPECT_EQ(message::make(parts).id(), id);
    }
}

TEST(message, foreign_content_types_are_spelled_out) {
    message_parts parts;
    parts.content_type = "application/vnd.acme+xml";
    EXPECT_EQ(message::make(parts).content_type(), "application/vnd.acme+xml");
}

TEST(message, a_borrowed_payload_is_not_copied_and_kept_alive) {
    auto owner = std::make_shared<std::string>("the body");
    message_parts parts;
    parts.payload = bytes_of(*owner);
    parts.id = "x";
    auto m = message::make(parts, owner);
    EXPECT_EQ(static_cast<const void*>(m.payload().data()), static_cast<const void*>(owner->data()));
    std::weak_ptr<std::string> watch = owner;
    owner.reset();
    const auto copy = m;
    m = message();
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(text_of(copy.payload()), "the body");
    EXPECT_EQ(copy.id(), "x");
}

TEST(message, the_last_handle_frees_the_owner) {
    auto owner = std::make_shared<std::string>("body");
    std::weak_ptr<std::string> watch = owner;
    message_parts parts;
    parts.payload = bytes_of(*owner);
    auto m = message::make(parts, std::move(owner));
    m = message();
    EXPECT_TRUE(watch.expired());
}

TEST(message, what_is_over_a_limit_is_named) {
    const std::string long_text(256, 'x');
    message_parts parts;
    parts.id = long_text;
    try {
        (void)message::make(parts);
        FAIL();
    } catch (const exception& e) {
        EXPECT_EQ(e.cause(), errc::too_large);
        EXPECT_STREQ(e.what(), "message id is 256 bytes; the limit is 255");
    }
}

TEST(message, parts_make_an_equal_copy) {
    const headers h{{"a", "1"}};
    const auto m = message::make(full_parts(h));
    id_buffer buffer;
    const auto copy = message::make(m.parts(buffer));
    EXPECT_EQ(copy.id(), m.id());
    EXPECT_EQ(copy.key(), m.key());
    EXPECT_EQ(copy.headers().encoded(), m.headers().encoded());
    EXPECT_EQ(copy.expires_at(), m.expires_at());
}

TEST(message, a_queued_json_message_costs_at_most_sixty_bytes_beside_its_payload) {
    const std::string body(190, 'x');
    message_parts parts = full_parts({});
    parts.key.reset();
    parts.expires_at = {};
    parts.payload = bytes_of(body);
    EXPECT_LE(message::make(parts).footprint(), body.size() + 60);
}

TEST(uuid_source, ids_are_canonical_distinct_and_sort_by_time) {
    detail::uuid_source source;
    std::set<std::string> seen;
    std::string last;
    for (int i = 0; i < 10'000; ++i) {
        const auto bytes = source.next(wall_time(std::chrono::milliseconds(1'700'000'000'000 + i / 100)));
        id_buffer buffer;
        const std::string id(detail::write_uuid(bytes.data(), buffer));
        std::array<std::byte, 16> raw;
        EXPECT_TRUE(detail::parse_uuid(id, raw));
        EXPECT_EQ(raw, bytes);
        EXPECT_EQ(id[14], '7');
        EXPECT_TRUE(seen.insert(id).second);
        if (i % 100 == 0) {
            EXPECT_LT(last, id);
            last = id;
        }
    }
}

TEST(uuid_source, two_sources_differ) {
    detail::uuid_source a, b;
    EXPECT_NE(a.next({}), b.next({}));
}

}  // namespace
}  // namespace shove
