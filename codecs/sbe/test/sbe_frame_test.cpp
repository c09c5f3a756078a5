#include <gtest/gtest.h>

#include "market_frames.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace {

using namespace market_frames;

TEST(sbe_frame, holds_what_was_written) {
    const auto frame = frame_of(an_order);
    EXPECT_EQ(read(frame.read()), an_order);
    EXPECT_EQ(frame.bytes().size(), 8 + length_of(an_order));
    EXPECT_EQ(frame.version(), 1);
}

TEST(sbe_frame, has_only_what_was_written_of_its_capacity) {
    const tick_frame frame([](market::Tick& tick) { tick.price(5); }, 500);
    EXPECT_EQ(frame.bytes().size(), 20U);
    EXPECT_EQ(frame.read().symbol(), 0U) << "what nobody set is zero";
}

TEST(sbe_frame, is_built_again_in_the_same_memory) {
    tick_frame frame([](market::Tick& tick) { tick.symbol(1).price(5); });
    const auto* before = frame.bytes().data();
    frame.build([](market::Tick& tick) { tick.symbol(2); });
    EXPECT_EQ(frame.bytes().data(), before);
    EXPECT_EQ(frame.read().price(), 0);
}

TEST(sbe_frame, too_small_a_capacity_is_an_exception) {
    order_frame frame;
    const auto fill = [](market::Order& order) { order.fillsCount(0); };
    EXPECT_THROW(frame.build(fill), std::runtime_error);
    EXPECT_TRUE(frame.empty());
}

TEST(sbe_frame, what_is_left_out_is_an_exception) {
    const auto why = [](auto fill) {
        try {
            const order_frame frame(fill, 100);
        } catch (const shove::exception& e) {
            EXPECT_EQ(e.cause(), shove::errc::encode_failed);
            return e.cause().detail;
        }
        return std::string("built");
    };
    const std::string refused = "market::Order: groups or variable data are not all there";
    EXPECT_EQ(why([](market::Order& order) { order.id(1); }), refused);
    EXPECT_EQ(why([](market::Order& order) { order.fillsCount(0); }), refused);
    EXPECT_EQ(why([](market::Order& order) { order.fillsCount(1); }), refused);
    EXPECT_EQ(why([](market::Order& order) { order.fillsCount(0), order.putNote(std::string()); }), "built");
}

TEST(sbe_frame, an_empty_one_is_neither_read_nor_encoded) {
    std::string out = "before";
    const auto done = shove::sbe<market::Tick>::encode(tick_frame(), out);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error(), shove::errc::encode_failed);
    EXPECT_EQ(done.error().detail, "market::Tick: an empty SBE frame");
    EXPECT_EQ(out, "before");
    EXPECT_THROW(tick_frame().read(), shove::exception);
    EXPECT_THROW(tick_view().read(), shove::exception);
    EXPECT_TRUE(tick_frame(tick_view()).empty());
}

TEST(sbe_frame, a_moved_from_one_is_empty) {
    auto frame = frame_of(an_order);
    const auto other = std::move(frame);
    EXPECT_TRUE(frame.empty());  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(read(other.read()), an_order);
}

TEST(sbe_frame, encoding_appends_the_frame) {
    const auto frame = frame_of(an_order);
    std::string out = "before";
    ASSERT_TRUE(shove::sbe<market::Order>::encode(frame, out));
    ASSERT_TRUE(shove::sbe<market::Order>::encode(frame.view(), out));
    const std::string bytes(reinterpret_cast<const char*>(frame.bytes().data()), frame.bytes().size());
    EXPECT_EQ(out, "before" + bytes + bytes);
}

TEST(sbe_frame, decoding_replaces) {
    auto into = frame_of(an_order);
    const auto shorter = frame_of(order{1, 2, {}, "x"});
    ASSERT_TRUE(decode(shorter.bytes(), into));
    EXPECT_EQ(read(into.read()), read(shorter.read()));
}

TEST(sbe_frame, every_cut_is_refused) {
    const auto whole = frame_of(an_order);
    for (std::size_t size = 0; size < whole.bytes().size(); ++size) {
        const auto bytes = bytes_of(whole.bytes().first(size));
        order_frame into;
        const auto decoded = decode(bytes, into);
        ASSERT_FALSE(decoded) << size;
        EXPECT_EQ(decoded.error(), shove::errc::decode_failed);
        if (size < 25) continue;  // the header's rules: see sbe_header_test.cpp
        EXPECT_EQ(decoded.error().detail, "market::Order: groups or variable data are not all there") << size;
    }
}

TEST(sbe_view, looks_at_the_bytes_in_place) {
    const auto bytes = bytes_of(frame_of(an_order).bytes());
    order_view view;
    ASSERT_TRUE(decode(bytes, view));
    EXPECT_EQ(view.bytes().data(), bytes.data());
    EXPECT_EQ(read(view.read()), an_order);
    auto reader = view.read();
    reader.fills().forEach([](market::Order::Fills& fill) { fill.skip(); });
    const auto note = reader.getNoteAsStringView();
    EXPECT_EQ(static_cast<const void*>(note.data() + note.size()), bytes.data() + bytes.size());
}

TEST(sbe_view, a_frame_outlives_it) {
    auto bytes = bytes_of(frame_of(an_order).bytes());
    const order_frame kept(*order_view::wrap(bytes));
    std::fill(bytes.begin(), bytes.end(), std::byte{0xFF});
    EXPECT_EQ(read(kept.read()), an_order);
}

TEST(sbe_view, a_damaged_one_does_not_become_a_frame) {
    auto bytes = bytes_of(frame_of(an_order).bytes());
    bytes.pop_back();
    const auto view = order_view::wrap(bytes);
    ASSERT_TRUE(view) << "only header and root block are checked";
    EXPECT_THROW(order_frame{*view}, shove::exception);
}

}  // namespace
