// What a group's next commit is where records are removed in its name.

#include <gtest/gtest.h>

#include <set>

#include "commit_note.hpp"
#include "removal.hpp"

namespace shove::kafka_test {

namespace {

using namespace kafka_backend;

std::vector<offset_run> settled(const committed_offset& of) {
    return commit_note::read(of.metadata, of.offset).value().settled;
}

TEST(removal_test, begins_where_the_log_does) {
    const auto made = settle_away(std::nullopt, 5, {3, 5, 6, 9});
    EXPECT_EQ(made.offsets, (std::vector<std::int64_t>{5, 6, 9}));
    EXPECT_EQ(made.commit.offset, 7);
    EXPECT_EQ(settled(made.commit), (std::vector<offset_run>{{9, 1}}));
}

TEST(removal_test, adds_to_what_is_settled) {
    const auto first = settle_away(std::nullopt, 0, {2, 4}).commit;
    EXPECT_EQ(first.offset, 0);
    const auto second = settle_away(first, 0, {0, 2, 3});
    EXPECT_EQ(second.offsets, (std::vector<std::int64_t>{0, 3}));
    EXPECT_EQ(second.commit.offset, 1);
    EXPECT_EQ(settled(second.commit), (std::vector<offset_run>{{2, 3}}));
    const auto third = settle_away(second.commit, 0, {1});
    EXPECT_EQ(third.commit.offset, 5);
    EXPECT_TRUE(settled(third.commit).empty());
}

TEST(removal_test, takes_what_the_metadata_has_room_for) {
    std::set<std::int64_t> odd;
    for (std::int64_t i = 1; i < 20'000; i += 2)
        odd.insert(i);
    const auto made = settle_away(std::nullopt, 0, odd);
    EXPECT_LT(made.offsets.size(), odd.size());
    EXPECT_GT(made.offsets.size(), 100u);
    EXPECT_EQ(made.offsets.front(), 1);
    EXPECT_LE(made.commit.metadata.size(), commit_note::most_bytes);
    EXPECT_EQ(settled(made.commit).size(), made.offsets.size());
    const open_records open(made.commit, 0);
    EXPECT_TRUE(open(0));
    EXPECT_FALSE(open(made.offsets.back()));
    EXPECT_TRUE(open(made.offsets.back() + 2));
}

}  // namespace

}  // namespace shove::kafka_test
