#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "../src/decide/batcher.hpp"

namespace shove::decide {
namespace {

spi::delivery one(std::uint64_t tag, std::size_t bytes = 1) {
    const std::string body(bytes, 'x');
    message_parts parts;
    parts.payload = std::as_bytes(std::span(body));
    spi::delivery made;
    made.msg = message::make(parts);
    made.tag = tag;
    return made;
}

std::vector<std::uint64_t> taken(batcher& from) {
    std::vector<std::uint64_t> tags;
    from.take([&](spi::delivery item) { tags.push_back(item.tag); });
    return tags;
}

using tags = std::vector<std::uint64_t>;

TEST(batcher, is_full_at_so_many_messages) {
    batcher all({.max_messages = 2});
    all.add(one(1), {});
    EXPECT_FALSE(all.full());
    all.add(one(2), {});
    all.add(one(3), {});
    EXPECT_TRUE(all.full());
    EXPECT_EQ(taken(all), (tags{1, 2}));
    EXPECT_FALSE(all.full());
    EXPECT_EQ(taken(all), (tags{3}));
    EXPECT_TRUE(all.empty());
}

TEST(batcher, is_full_at_so_many_bytes_and_takes_no_more) {
    batcher all({.max_bytes = 10});
    all.add(one(1, 6), {});
    EXPECT_FALSE(all.full());
    all.add(one(2, 6), {});
    EXPECT_TRUE(all.full());
    EXPECT_EQ(taken(all), (tags{1}));
    EXPECT_FALSE(all.full());
}

TEST(batcher, a_message_over_the_bytes_is_a_batch_of_its_own) {
    batcher all({.max_bytes = 10});
    all.add(one(1, 100), {});
    all.add(one(2, 1), {});
    EXPECT_TRUE(all.full());
    EXPECT_EQ(taken(all), (tags{1}));
    EXPECT_EQ(taken(all), (tags{2}));
}

TEST(batcher, age_counts_from_the_first_message) {
    batcher all({.max_age = milliseconds(250)});
    EXPECT_FALSE(all.next_due().has_value());
    const steady_time start{};
    all.add(one(1), start + milliseconds(10));
    all.add(one(2), start + milliseconds(200));
    EXPECT_EQ(all.next_due(), start + milliseconds(260));
    taken(all);
    all.add(one(3), start + milliseconds(300));
    EXPECT_EQ(all.next_due(), start + milliseconds(550));
}

TEST(batcher, the_rest_leaves_and_the_batch_stays) {
    batcher all({.max_messages = 2});
    for (std::uint64_t tag = 1; tag <= 5; ++tag)
        all.add(one(tag), {});
    tags rest;
    for (const auto& item : all.take_rest())
        rest.push_back(item.tag);
    EXPECT_EQ(rest, (tags{3, 4, 5}));
    EXPECT_EQ(taken(all), (tags{1, 2}));
}

TEST(batcher, what_is_dropped_counts_no_more) {
    batcher all({.max_messages = 2, .max_bytes = 10});
    all.add(one(1, 8), {});
    all.add(one(2, 8), {});
    EXPECT_EQ(all.drop([](const spi::delivery& item) { return item.tag == 1; }), 1U);
    EXPECT_FALSE(all.full());
    EXPECT_EQ(taken(all), (tags{2}));
}

/// Whatever the sizes and limits: every message leaves once, in order, within the limits, and a batch that is
/// not full is all there is.
RC_GTEST_PROP(batcher, keeps_order_and_limits, ()) {
    const auto sizes = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, 50));
    const auto most = *rc::gen::inRange<std::size_t>(1, 20);
    const auto bytes = *rc::gen::inRange<std::size_t>(1, 200);
    batcher all({.max_messages = most, .max_bytes = bytes});
    std::uint64_t next = 1;
    const auto take_one = [&] {
        std::size_t sum = 0;
        std::size_t count = 0;
        all.take([&](const spi::delivery& item) {
            RC_ASSERT(item.tag == next);
            ++next;
            ++count;
            sum += item.msg.payload().size();
        });
        RC_ASSERT(count >= 1 && count <= most);
        RC_ASSERT(count == 1 || sum <= bytes);
    };
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        all.add(one(i + 1, sizes[i]), {});
        if (all.full() && *rc::gen::arbitrary<bool>()) take_one();
    }
    while (!all.empty())
        take_one();
    RC_ASSERT(next == sizes.size() + 1);
    RC_ASSERT(!all.full());
}

}  // namespace
}  // namespace shove::decide
