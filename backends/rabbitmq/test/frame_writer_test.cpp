// Frames made for one send: what rabbitmq-c itself reads from them.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "field.hpp"
#include "frame_writer.hpp"

namespace shove::rabbitmq_test {

namespace {

using namespace rabbitmq_backend;

struct frame {
    unsigned type = 0;
    unsigned channel = 0;
    std::string payload;
};

std::vector<frame> frames_of(const frame_writer& from) {
    std::vector<frame> made;
    const auto bytes = from.bytes();
    const auto number = [&](std::size_t at, std::size_t count) {
        unsigned value = 0;
        for (std::size_t i = 0; i < count; ++i)
            value = value * 256 + std::to_integer<unsigned>(bytes[at + i]);
        return value;
    };
    for (std::size_t at = 0; at < bytes.size();) {
        const auto size = number(at + 3, 4);
        EXPECT_LE(at + 8 + size, bytes.size());
        made.push_back({number(at, 1), number(at + 1, 2),
                        std::string(reinterpret_cast<const char*>(bytes.data()) + at + 7, size)});
        EXPECT_EQ(number(at + 7 + size, 1), 0xCEU);
        at += 8 + size;
    }
    return made;
}

struct pool {
    pool() { init_amqp_pool(&it, 4096); }
    ~pool() { empty_amqp_pool(&it); }
    amqp_pool_t it{};
};

amqp_basic_publish_t to(std::string_view exchange, std::string_view key) {
    amqp_basic_publish_t how{};
    how.exchange = bytes_of(exchange);
    how.routing_key = bytes_of(key);
    how.mandatory = 1;
    return how;
}

std::span<const std::byte> bytes(std::string_view text) {
    return std::as_bytes(std::span(text));
}

amqp_basic_properties_t properties_with(std::string_view type) {
    amqp_basic_properties_t made{};
    made.type = bytes_of(type);
    made._flags = AMQP_BASIC_TYPE_FLAG;
    return made;
}

TEST(frame_writer_test, an_acknowledgement_as_the_standard_has_it) {
    frame_writer out;
    const amqp_basic_ack_t ack{0x0102030405060708, 1};
    ASSERT_EQ(out.method(3, AMQP_BASIC_ACK_METHOD, &ack), 0);
    const std::string expected("\x01\0\x03\0\0\0\x0d\0\x3c\0\x50\x01\x02\x03\x04\x05\x06\x07\x08\x01\xce", 21);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(out.bytes().data()), out.bytes().size()), expected);
}

TEST(frame_writer_test, rabbitmq_c_reads_a_message_back) {
    frame_writer out;
    ASSERT_EQ(out.message(7, to("orders-readers", std::string(255, 'k')), properties_with("paid"), bytes("{}")), 0);
    const auto made = frames_of(out);
    ASSERT_EQ(made.size(), 3u);
    for (const auto& one : made)
        EXPECT_EQ(one.channel, 7u);
    EXPECT_EQ(made[0].type, AMQP_FRAME_METHOD);
    pool memory;
    void* decoded = nullptr;
    ASSERT_EQ(made[0].payload.substr(0, 4), std::string("\0\x3c\0\x28", 4));
    ASSERT_EQ(amqp_decode_method(AMQP_BASIC_PUBLISH_METHOD, &memory.it,
                                 bytes_of(std::string_view(made[0].payload).substr(4)), &decoded),
              0);
    const auto& how = *static_cast<const amqp_basic_publish_t*>(decoded);
    EXPECT_EQ(view_of(how.exchange), "orders-readers");
    EXPECT_EQ(view_of(how.routing_key), std::string(255, 'k'));
    EXPECT_TRUE(how.mandatory);
    EXPECT_FALSE(how.immediate);
    EXPECT_EQ(made[1].type, AMQP_FRAME_HEADER);
    ASSERT_EQ(made[1].payload.substr(0, 12), std::string("\0\x3c\0\0\0\0\0\0\0\0\0\x02", 12));
    ASSERT_EQ(amqp_decode_properties(60, &memory.it, bytes_of(std::string_view(made[1].payload).substr(12)), &decoded),
              0);
    const auto& properties = *static_cast<const amqp_basic_properties_t*>(decoded);
    EXPECT_EQ(properties._flags, AMQP_BASIC_TYPE_FLAG);
    EXPECT_EQ(view_of(properties.type), "paid");
    EXPECT_EQ(made[2].type, AMQP_FRAME_BODY);
    EXPECT_EQ(made[2].payload, "{}");
}

TEST(frame_writer_test, a_body_is_spread_over_frames_and_an_empty_one_has_none) {
    frame_writer out;
    out.limit(4096);
    const std::string body = std::string(4088, 'a') + std::string(4088, 'b') + "c";
    ASSERT_EQ(out.message(1, to("", "q"), properties_with("t"), bytes(body)), 0);
    auto made = frames_of(out);
    ASSERT_EQ(made.size(), 5u);
    EXPECT_EQ(made[2].payload + made[3].payload + made[4].payload, body);
    EXPECT_EQ(made[2].payload.size(), 4088u);
    out.clear();
    EXPECT_TRUE(out.empty());
    ASSERT_EQ(out.message(1, to("", "q"), properties_with("t"), {}), 0);
    EXPECT_EQ(frames_of(out).size(), 2u);
}

TEST(frame_writer_test, what_cannot_be_written_leaves_what_is_there) {
    frame_writer out;
    const amqp_basic_ack_t ack{1, 0};
    ASSERT_EQ(out.method(1, AMQP_BASIC_ACK_METHOD, &ack), 0);
    const auto before = out.bytes().size();
    EXPECT_LT(out.message(1, to(std::string(300, 'x'), "q"), properties_with("t"), bytes("b")), 0);
    auto bad = properties_with(std::string(300, 't'));
    EXPECT_LT(out.message(1, to("", "q"), bad, bytes("b")), 0);
    EXPECT_EQ(out.bytes().size(), before);
}

}  // namespace

}  // namespace shove::rabbitmq_test
