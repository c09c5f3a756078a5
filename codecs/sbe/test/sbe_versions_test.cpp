#include <gtest/gtest.h>

#include "market_frames.hpp"

#include <market_later/Order.h>

#include <cstddef>
#include <string>
#include <vector>

// Publisher and consumer with different versions of the schema.
namespace {

using namespace market_frames;
using later_frame = shove::sbe_frame<market_later::Order>;

later_frame a_later_order() {
    const auto write = [](market_later::Order& to) {
        to.id(7).side(market_later::Side::BUY).price(1250).trader(99);
        to.fillsCount(2)
            .next()
            .quantity(3)
            .fee(1)
            .putVenue(std::string("XETR"))
            .next()
            .quantity(4)
            .fee(2)
            .putVenue(std::string());
        to.putNote(std::string("good till noon")).putTag(std::string("new"));
    };
    return later_frame(write, 200);
}

TEST(sbe_versions, a_newer_frame_is_read) {
    const auto bytes = bytes_of(a_later_order().bytes());
    order_frame frame;
    ASSERT_TRUE(decode(bytes, frame));
    EXPECT_EQ(frame.version(), 2);
    EXPECT_EQ(read(frame.read()), an_order);
    order_view view;
    ASSERT_TRUE(decode(bytes, view));
    EXPECT_EQ(read(view.read()), an_order);
}

TEST(sbe_versions, a_newer_frame_is_passed_on_whole) {
    const auto original = a_later_order();
    order_frame frame;
    ASSERT_TRUE(decode(original.bytes(), frame));
    later_frame again;
    ASSERT_TRUE(decode(frame.bytes(), again));
    EXPECT_EQ(again.read().trader(), 99U);
}

TEST(sbe_versions, an_older_frame_is_read_and_lacks_what_came_later) {
    const auto bytes = bytes_of(frame_of(an_order).bytes());
    later_frame frame;
    ASSERT_TRUE(decode(bytes, frame));
    auto reader = frame.read();
    EXPECT_EQ(reader.id(), 7U);
    EXPECT_EQ(reader.trader(), market_later::Order::traderNullValue());
    auto& fills = reader.fills();
    EXPECT_EQ(fills.next().quantity(), 3U);
    EXPECT_EQ(fills.fee(), market_later::Order::Fills::feeNullValue());
    EXPECT_EQ(fills.getVenueAsString(), "XETR");
    fills.next().skip();
    EXPECT_EQ(reader.getNoteAsString(), "good till noon");
    EXPECT_EQ(reader.getTagAsString(), "");
}

// No version of the schema has so short a block; the header's rules let it pass.
TEST(sbe_versions, a_block_shorter_than_all_fields_reads_as_zeros) {
    const auto bytes = bytes_of(frame_of({2, 4, 7, 1}, 2));
    tick_view view;
    ASSERT_TRUE(decode(bytes, view));
    EXPECT_EQ(view.bytes().data(), bytes.data());
    EXPECT_EQ(view.read().symbol(), 0U);
    EXPECT_EQ(view.read().price(), 0);
    const auto copy = view;
    EXPECT_EQ(copy.read().price(), 0);
    tick_frame frame;
    ASSERT_TRUE(decode(bytes, frame));
    EXPECT_EQ(frame.read().price(), 0);
    EXPECT_EQ(frame.bytes().size(), bytes.size());
}

}  // namespace
