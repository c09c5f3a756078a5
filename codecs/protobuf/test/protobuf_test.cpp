#include <gtest/gtest.h>

#include <shove/json.hpp>
#include <shove/protobuf.hpp>

#include "legacy.pb.h"
#include "lite.pb.h"
#include "shop.pb.h"

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace {

static_assert(shove::codec_for<shove::protobuf, shop::Order>);
static_assert(shove::codec_for<shove::protobuf, lite::Ping>);
static_assert(!shove::codec_for<shove::protobuf, std::string>);
static_assert(shove::detail::replaces_whole<shove::protobuf>);

std::string encoded(const google::protobuf::MessageLite& message) {
    std::string out;
    EXPECT_TRUE(shove::protobuf::encode(message, out));
    return out;
}

shove::result<void> decode(std::string_view bytes, google::protobuf::MessageLite& into) {
    shove::decode_scratch scratch;
    return shove::protobuf::decode(std::as_bytes(std::span(bytes)), into, scratch);
}

/// The detail of the error that decoding must end with.
std::string refused(std::string_view bytes, google::protobuf::MessageLite& into) {
    const auto decoded = decode(bytes, into);
    if (decoded) return "decoded";
    EXPECT_EQ(decoded.error(), shove::errc::decode_failed);
    return decoded.error().detail;
}

shop::Order an_order() {
    shop::Order order;
    order.set_id("ORD-1");
    order.set_paid_in(shop::USD);
    auto& line = *order.add_lines();
    line.set_item("pen");
    line.set_price(1.5);
    return order;
}

TEST(protobuf, writes_the_plain_message) {
    shop::Line line;
    line.set_item("pen");
    EXPECT_EQ(encoded(line), "\x0A\x03pen");
}

TEST(protobuf, appends) {
    std::string out = "before";
    ASSERT_TRUE(shove::protobuf::encode(an_order(), out));
    EXPECT_EQ(out, "before" + encoded(an_order()));
}

TEST(protobuf, replaces_what_was_there) {
    shop::Order into;
    into.set_courier("Ann");
    into.add_marks(7);
    ASSERT_TRUE(decode(encoded(an_order()), into));
    EXPECT_EQ(encoded(into), encoded(an_order()));
    ASSERT_TRUE(decode("", into)) << "no bytes are a message without fields";
    EXPECT_EQ(into.ByteSizeLong(), 0U);
}

TEST(protobuf, keeps_unknown_fields) {
    shop::NewerOrder newer;
    newer.set_id("ORD-1");
    newer.set_coupon("SPRING");
    newer.mutable_gift()->set_item("pen");
    shop::Order known;
    ASSERT_TRUE(decode(encoded(newer), known));
    EXPECT_EQ(known.id(), "ORD-1");
    shop::NewerOrder again;
    ASSERT_TRUE(decode(encoded(known), again));
    EXPECT_EQ(encoded(again), encoded(newer));
}

TEST(protobuf, keeps_unknown_values_of_an_enum) {
    shop::Order known;
    ASSERT_TRUE(decode("\x10\x09", known));
    EXPECT_EQ(known.paid_in(), 9);
    EXPECT_EQ(encoded(known), "\x10\x09");
}

TEST(protobuf, refuses_to_write_without_required_fields) {
    legacy::Order order;
    order.set_id("ORD-1");
    order.add_lines();
    std::string out = "before";
    const auto done = shove::protobuf::encode(order, out);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error(), shove::errc::encode_failed);
    EXPECT_EQ(done.error().detail, "legacy.Order: missing required fields: amount, lines[0].item");
    EXPECT_EQ(out, "before");
}

TEST(protobuf, names_missing_required_fields) {
    legacy::Draft draft;
    draft.set_amount(3);
    draft.add_lines()->set_item("secret");
    draft.add_lines();
    legacy::Order into;
    EXPECT_EQ(refused(encoded(draft), into), "legacy.Order: missing required fields: id, lines[1].item");
}

TEST(protobuf, a_lite_class_knows_no_names) {
    lite::Ping into;
    EXPECT_EQ(refused("", into).find("lite.Ping: missing required fields: "), 0U);
    ASSERT_TRUE(decode("\x08\x05", into));
    EXPECT_EQ(into.number(), 5U);
}

TEST(protobuf, every_cut_inside_a_field_is_refused) {
    shop::Order order;
    order.set_courier("Ann of the secret street");
    const std::string whole = encoded(order);
    for (std::size_t size = 1; size < whole.size(); ++size) {
        shop::Order into;
        EXPECT_EQ(refused(std::string_view(whole).substr(0, size), into),
                  "shop.Order: not a message of this type, or cut off")
            << size;
    }
}

TEST(protobuf, garbage_is_refused) {
    using namespace std::string_view_literals;
    for (const auto bytes : {"\x07"sv,                                          // a wire type that does not exist
                             "\x00"sv,                                          // field 0
                             "\x0B"sv,                                          // a group that does not end
                             "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"sv,  // an endless number
                             "\x0A\xFF\xFF\xFF\xFF\x0F"sv,                      // a length over all bounds
                             R"({"id":"ORD-1"})"sv}) {
        shop::Order into;
        EXPECT_EQ(refused(bytes, into), "shop.Order: not a message of this type, or cut off");
    }
}

TEST(protobuf, text_that_is_not_utf8_is_refused) {
    shop::Order into;
    EXPECT_EQ(refused("\x0A\x01\xFF", into), "shop.Order: not a message of this type, or cut off");
}

TEST(protobuf, too_deep_a_message_is_refused) {
    shop::Nested top;
    auto* at = &top;
    for (int i = 0; i < 200; ++i)
        at = at->mutable_inner();
    shop::Nested into;
    EXPECT_EQ(refused(encoded(top), into), "shop.Nested: not a message of this type, or cut off");
}

// The format carries no type. What the guide says of that:
TEST(protobuf, another_types_bytes_are_read_where_they_fit) {
    shop::Note note;
    note.set_text("remember the milk");
    shop::Order order;
    ASSERT_TRUE(decode(encoded(note), order));
    EXPECT_EQ(order.id(), "remember the milk");

    shop::Counter counter;
    counter.set_count(3);
    ASSERT_TRUE(decode(encoded(counter), order)) << "a field of another wire type counts as unknown";
    EXPECT_EQ(order.id(), "");
    EXPECT_EQ(encoded(order), encoded(counter));

    note.set_author("Ann");  // field 3 of Order is a message, and this is none
    EXPECT_EQ(refused(encoded(note), order), "shop.Order: not a message of this type, or cut off");
}

TEST(protobuf, more_bytes_than_protobuf_can_read_are_refused) {
    const std::byte one{};
    const std::size_t size = std::size_t{std::numeric_limits<int>::max()} + 1;
    shop::Order into;
    shove::decode_scratch scratch;
    const auto decoded = shove::protobuf::decode({&one, size}, into, scratch);  // not looked at
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error(), shove::errc::decode_failed);
    EXPECT_EQ(decoded.error().detail, "shop.Order: 2147483648 bytes, protobuf's limit is 2147483647");
}

/// Says that it is larger than protobuf can write, without the memory.
class huge final : public google::protobuf::MessageLite {
public:
    std::string GetTypeName() const override { return "huge"; }
    MessageLite* New(google::protobuf::Arena*) const override { return nullptr; }
    void Clear() override {}
    bool IsInitialized() const override { return true; }
    void CheckTypeAndMergeFrom(const MessageLite&) override {}
    std::size_t ByteSizeLong() const override { return std::size_t{3} << 30; }
    int GetCachedSize() const override { return 0; }
    std::uint8_t* _InternalSerialize(std::uint8_t* to, google::protobuf::io::EpsCopyOutputStream*) const override {
        return to;
    }
};

TEST(protobuf, more_bytes_than_protobuf_can_write_are_refused) {
    std::string out = "before";
    const auto done = shove::protobuf::encode(huge(), out);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error(), shove::errc::encode_failed);
    EXPECT_EQ(done.error().detail, "huge: 3221225472 bytes, protobuf's limit is 2147483647");
    EXPECT_EQ(out, "before");
}

}  // namespace
