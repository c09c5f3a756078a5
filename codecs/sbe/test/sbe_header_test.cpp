#include <gtest/gtest.h>

#include "market_frames.hpp"

#include <market_big/Tick.h>

#include <cstdint>
#include <string>
#include <vector>

// The rules of the header, in both forms of a message. A tick: block 12, template 4, schema 7, version 1.
namespace {

using namespace market_frames;

static_assert(shove::codec_for<shove::sbe<market::Tick>, tick_frame>);
static_assert(shove::codec_for<shove::sbe<market::Tick>, tick_view>);
static_assert(!shove::codec_for<shove::sbe<market::Tick>, order_view>);
static_assert(!shove::sbe_flyweight<std::string>);

struct rule {
    const char* name;
    std::vector<std::byte> bytes;
    std::string detail;  // empty: accepted
};

std::vector<rule> rules() {
    const auto cut = [](std::vector<std::byte> bytes, std::size_t size) {
        bytes.resize(size);
        return bytes;
    };
    return {
        {"right", frame_of({12, 4, 7, 1}, 12), ""},
        {"nothing", {}, "market::Tick: too short: 0 bytes, an SBE header has 8"},
        {"seven_bytes_of_another_schema", cut(frame_of({12, 4, 9, 1}, 0), 7),
         "market::Tick: too short: 7 bytes, an SBE header has 8"},
        {"schema", frame_of({12, 4, 9, 1}, 12), "market::Tick: SBE schema id 9, expected 7"},
        {"schema_before_template", frame_of({12, 5, 9, 1}, 12), "market::Tick: SBE schema id 9, expected 7"},
        {"template", frame_of({12, 3, 7, 1}, 12), "market::Tick: SBE template id 3, expected 4"},
        {"template_before_block", frame_of({12, 3, 7, 1}, 0), "market::Tick: SBE template id 3, expected 4"},
        {"block", frame_of({12, 4, 7, 1}, 11), "market::Tick: root block cut off: 20 bytes needed, 19 there"},
        {"longest_block", frame_of({65535, 4, 7, 1}, 12),
         "market::Tick: root block cut off: 65543 bytes needed, 20 there"},
        {"byte_order", frame_of({12 << 8, 4 << 8, 7 << 8, 1 << 8}, 12), "market::Tick: SBE schema id 1792, expected 7"},
        {"shorter_block", frame_of({4, 4, 7, 1}, 4), ""},
        {"no_block", frame_of({0, 4, 7, 1}, 0), ""},
        {"longer_block", frame_of({14, 4, 7, 1}, 14), ""},
        {"bytes_behind", frame_of({12, 4, 7, 1}, 40), ""},
        {"older_version", frame_of({12, 4, 7, 0}, 12), ""},
        {"newest_version", frame_of({12, 4, 7, 65535}, 12), ""},
    };
}

template <class Message>
std::string refused(std::span<const std::byte> bytes) {
    Message into;
    const auto decoded = decode(bytes, into);
    if (decoded) {
        EXPECT_EQ(into.bytes().size(), bytes.size());
        return {};
    }
    EXPECT_EQ(decoded.error(), shove::errc::decode_failed);
    EXPECT_TRUE(into.empty());
    return decoded.error().detail;
}

TEST(sbe_header, rules_of_decode) {
    for (const auto& [name, bytes, detail] : rules()) {
        EXPECT_EQ(refused<tick_view>(bytes), detail) << name;
        EXPECT_EQ(refused<tick_frame>(bytes), detail) << name;
    }
}

TEST(sbe_header, rules_of_wrap) {
    for (const auto& [name, bytes, detail] : rules()) {
        const auto wrapped = tick_view::wrap(bytes);
        EXPECT_EQ(wrapped ? "" : wrapped.error().detail, detail) << name;
    }
}

TEST(sbe_header, is_written_in_the_schemas_byte_order) {
    const auto fill = [](auto& tick) { tick.symbol(0x0102).price(3); };
    const auto bytes = [](const auto& frame) {
        const auto all = frame.bytes();
        return std::vector<std::byte>(all.begin(), all.begin() + 12);
    };
    auto little = frame_of({12, 4, 7, 1}, 4);
    little[8] = std::byte{2};
    little[9] = std::byte{1};
    EXPECT_EQ(bytes(tick_frame(fill)), little);

    auto big = frame_of({12 << 8, 4 << 8, 7 << 8, 1 << 8}, 4);
    big[10] = std::byte{1};
    big[11] = std::byte{2};
    const shove::sbe_frame<market_big::Tick> frame(fill);
    EXPECT_EQ(bytes(frame), big);
    const auto wrapped = shove::sbe_view<market_big::Tick>::wrap(frame.bytes());
    ASSERT_TRUE(wrapped);
    EXPECT_EQ(wrapped->read().symbol(), 0x0102U);
    EXPECT_EQ(wrapped->version(), 1);
    EXPECT_EQ(tick_view::wrap(frame.bytes()).error().detail, "market::Tick: SBE schema id 1792, expected 7");
}

}  // namespace
