// What does not fit into one frame.

#include <gtest/gtest.h>

#include <string>

#include <shove/detail/utf8.hpp>
#include "field.hpp"
#include "wire_support.hpp"

namespace shove::rabbitmq_test {

namespace {

using namespace rabbitmq_backend;

message with_header(std::size_t bytes) {
    message_parts parts;
    const std::string filler(bytes, 'h');
    headers mine;
    mine.add("filler", filler);
    parts.headers = mine;
    return message::make(parts);
}

spi::history with_errors(std::string first, std::string last) {
    spi::history past;
    past.retries = 1;
    past.first_error = std::move(first);
    past.last_error = std::move(last);
    return past;
}

std::size_t whole_size(const message& msg, const spi::history* past) {
    properties_writer writer;
    return content_header_size(*writer.write(msg, past, {.room = 131'064}).value());
}

/// What is left of a history that goes through a frame with this room.
std::unique_ptr<spi::history> squeezed(const message& msg, const spi::history& past, std::size_t room) {
    properties_writer writer;
    const auto* properties = writer.write(msg, &past, {.room = room}).value();
    EXPECT_LE(encoded(*properties).size() + 12, room);
    auto made = read(*properties);
    EXPECT_TRUE(made.msg.headers().find("filler").has_value());
    EXPECT_EQ(made.past->retries, 1u);
    return std::move(made.past);
}

TEST(frame_test, what_fits_exactly_is_whole) {
    const auto msg = with_header(3000);
    const auto past = with_errors(std::string(500, 'f'), std::string(400, 'l'));
    const auto size = whole_size(msg, &past);
    EXPECT_TRUE(same(squeezed(msg, past, size).get(), &past));
}

TEST(frame_test, error_texts_are_cut_the_longer_one_first) {
    const auto msg = with_header(3000);
    const auto past = with_errors(std::string(500, 'f'), std::string(100, 'l'));
    const auto size = whole_size(msg, &past);
    auto left = squeezed(msg, past, size - 1);
    EXPECT_EQ(left->first_error, std::string(499, 'f'));
    EXPECT_EQ(left->last_error, past.last_error);
    left = squeezed(msg, past, size - 450);
    EXPECT_EQ(left->first_error.size(), 75u);
    EXPECT_EQ(left->last_error.size(), 75u);
    left = squeezed(msg, past, size - 600);
    EXPECT_EQ(left->first_error, "");
    EXPECT_EQ(left->last_error, "");
}

TEST(frame_test, error_texts_are_cut_between_characters) {
    const auto msg = with_header(3000);
    std::string text;
    for (int i = 0; i < 200; ++i)
        text += "\xE2\x82\xAC";
    const auto past = with_errors(text, text);
    const auto size = whole_size(msg, &past);
    for (std::size_t less = 1; less < 1300; less += 7) {
        const auto left = squeezed(msg, past, std::max(size - less, whole_size(msg, nullptr) + 40));
        EXPECT_TRUE(detail::is_utf8(left->first_error) && detail::is_utf8(left->last_error));
        EXPECT_EQ(left->first_error.size() % 3, 0u);
    }
}

TEST(frame_test, headers_that_do_not_fit_are_an_error) {
    const auto msg = with_header(5000);
    const auto past = with_errors("secret error", "secret error");
    properties_writer writer;
    const auto made = writer.write(msg, &past, {.room = content_header_room(4096)});
    ASSERT_TRUE(made.has_error());
    EXPECT_EQ(made.error(), errc::too_large);
    EXPECT_NE(made.error().detail.find("4088"), std::string::npos);
    EXPECT_EQ(made.error().detail.find("secret"), std::string::npos);
    EXPECT_EQ(made.error().detail.find("hhh"), std::string::npos);
    EXPECT_TRUE(writer.write(with_header(10), &past, {.room = content_header_room(4096)}).has_value());
}

TEST(frame_test, a_used_writer_forgets_the_message_before) {
    properties_writer writer;
    const auto past = with_errors("first", "last");
    message_parts parts;
    parts.id = "an id";
    parts.type = "type";
    static_cast<void>(writer.write(message::make(parts), &past, {.room = 4088}));
    const auto* bare = writer.write(message::make(message_parts{}), nullptr, {.room = 4088}).value();
    EXPECT_EQ(bare->_flags, static_cast<amqp_flags_t>(AMQP_BASIC_DELIVERY_MODE_FLAG));
}

}  // namespace

}  // namespace shove::rabbitmq_test
