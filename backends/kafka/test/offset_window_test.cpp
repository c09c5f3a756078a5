// What was received of a partition and is not settled, and what a successor is told of it.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>

#include "commit_note.hpp"
#include "offset_window.hpp"

namespace shove::kafka_test {

namespace {

using namespace kafka_backend;

kept_record waiting(std::uint32_t retries, const std::string& why) {
    kept_record made;
    made.not_before = wall_time(milliseconds(1'700'000'000'123));
    made.past.retries = retries;
    made.past.first_error = why;
    made.past.last_error = why;
    made.past.first_failed_at = made.past.last_failed_at = wall_time(milliseconds(1'700'000'000'000));
    return made;
}

commit_note begun(std::int64_t at) {
    commit_note made;
    made.fence = 1;
    made.reach = made.suspect_until = made.handled_until = at;
    return made;
}

TEST(offset_window, commits_below_the_lowest_unsettled) {
    offset_window window(10, {});
    for (std::int64_t offset = 10; offset < 15; ++offset)
        EXPECT_TRUE(window.receive(offset));
    EXPECT_TRUE(window.settle(12));
    EXPECT_TRUE(window.settle(10));
    EXPECT_EQ(window.position(), 11);
    EXPECT_EQ(window.settled(10), (std::vector<offset_run>{{12, 1}}));
    EXPECT_TRUE(window.settle(11));
    EXPECT_EQ(window.position(), 13);
    EXPECT_FALSE(window.settle(11)) << "settled twice";
    EXPECT_EQ(window.unsettled(), 2U);
}

TEST(offset_window, gaps_block_nothing) {
    offset_window window(0, {});
    EXPECT_TRUE(window.receive(5));
    EXPECT_TRUE(window.receive(9));
    EXPECT_TRUE(window.settle(5));
    EXPECT_EQ(window.position(), 9);
    EXPECT_TRUE(window.settle(9));
    EXPECT_EQ(window.position(), 10);
}

RC_GTEST_PROP(offset_window, a_successor_gets_what_is_left, ()) {
    const auto count = *rc::gen::inRange<std::int64_t>(1, 60);
    offset_window first(100, {});
    std::set<std::int64_t> left;
    for (std::int64_t i = 0; i < count; ++i) {
        first.receive(100 + i);
        left.insert(100 + i);
    }
    for (const auto i : *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, count))) {
        first.settle(100 + i);
        left.erase(100 + i);
    }
    auto note = begun(100);
    note.settled = first.settled(1'000);
    const auto text = note.write(first.position());
    RC_ASSERT(text.has_value());
    const auto read = commit_note::read(*text, first.position());
    RC_ASSERT(read.has_value());
    offset_window second(first.position(), read->settled);
    std::set<std::int64_t> again;
    for (auto offset = first.position(); offset < 100 + count; ++offset) {
        if (second.receive(offset)) again.insert(offset);
    }
    RC_ASSERT(again == left);
    for (const auto offset : left)
        second.settle(offset);
    RC_ASSERT(second.position() == 100 + count);
}

TEST(commit_note, tells_what_waits) {
    auto note = begun(40);
    note.reach = 140;
    note.alone = 41;
    note.kept[42] = waiting(3, "a ; and , in it");
    note.settled = {{43, 7}, {60, 1}};
    const auto text = note.write(40);
    ASSERT_TRUE(text);
    const auto read = commit_note::read(*text, 40);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->reach, 140);
    EXPECT_EQ(read->alone, 41);
    EXPECT_EQ(read->settled, note.settled);
    EXPECT_EQ(read->kept, note.kept);
}

TEST(commit_note, fits_whatever_is_in_it) {
    auto note = begun(0);
    for (std::int64_t i = 0; i < 100; ++i)
        note.kept[i * 3] = waiting(1, std::string(500, 'x'));
    for (std::int64_t i = 0; i < 3'000; ++i)
        note.settled.push_back({1'000 + i * 2, 1});
    const auto text = note.write(0);
    ASSERT_TRUE(text);
    EXPECT_LE(text->size(), commit_note::most_bytes);
    const auto read = commit_note::read(*text, 0);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->kept.size(), 100U) << "counts are never left out";
    for (std::size_t i = 0; i < read->settled.size(); ++i)
        EXPECT_EQ(read->settled[i], note.settled[i]) << "what is left out is at the end";
}

TEST(commit_note, of_other_clients_is_none) {
    EXPECT_FALSE(commit_note::read("", 0));
    EXPECT_FALSE(commit_note::read("{\"by\":\"somebody\"}", 0));
    EXPECT_FALSE(commit_note::read("shove1;r", 0));
    EXPECT_FALSE(commit_note::read("shove1;k1,2", 0));
}

TEST(take_over, of_an_orderly_owner_suspects_nobody) {
    auto note = begun(10);
    note.clean = true;
    note.reach = 100;
    const auto made = take_over(note, 10);
    EXPECT_EQ(made.mine.fence, 2U);
    EXPECT_FALSE(made.unclean);
    EXPECT_EQ(made.mine.suspect_until, 10);
    EXPECT_EQ(made.mine.handled_until, 10);
}

TEST(take_over, of_a_dead_owner_suspects_what_it_may_have_had) {
    auto note = begun(10);
    note.reach = 74;
    const auto made = take_over(note, 10);
    EXPECT_EQ(made.mine.suspect_until, 74);
    EXPECT_EQ(made.mine.handled_until, 74);
    // Then one of them was handled alone, and that process died too: it was that one.
    auto second = made.mine;
    second.alone = 12;
    const auto next = take_over(second, 10);
    EXPECT_EQ(next.mine.kept.at(12).past.crashes, 2U);
    EXPECT_EQ(next.mine.suspect_until, 74) << "no bystander is counted twice";
    EXPECT_FALSE(next.mine.alone);
}

}  // namespace

}  // namespace shove::kafka_test
