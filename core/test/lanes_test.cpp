#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "../src/decide/lanes.hpp"

namespace shove::decide {
namespace {

using namespace std::chrono_literals;

const steady_time start_of_time{1h};

spi::delivery item(std::string_view key, std::uint64_t tag) {
    const auto id = "m" + std::to_string(tag);
    message_parts parts;
    parts.id = id;
    parts.key = key;
    spi::delivery made;
    made.msg = message::make(parts);
    made.tag = tag;
    return made;
}

std::vector<std::uint64_t> tags(const std::vector<spi::delivery>& items) {
    std::vector<std::uint64_t> made;
    for (const auto& each : items)
        made.push_back(each.tag);
    return made;
}

TEST(lanes, one_message_of_a_key_at_a_time) {
    lanes all(100);
    all.add(item("a", 1));
    all.add(item("a", 2));
    all.add(item("b", 3));
    auto first = all.start();
    EXPECT_EQ(first.item.tag, 1U);
    auto other = all.start();
    EXPECT_EQ(other.item.tag, 3U) << "the second of a key overtook the first";
    EXPECT_FALSE(all.startable());
    all.finish(first.of);
    ASSERT_TRUE(all.startable());
    auto second = all.start();
    EXPECT_EQ(second.item.tag, 2U);
    all.finish(second.of);
    all.finish(other.of);
    EXPECT_FALSE(all.startable());
    EXPECT_EQ(all.held(), 0U);
}

TEST(lanes, a_waiting_lane_holds_up_no_other) {
    lanes all(100);
    all.add(item("a", 1));
    all.add(item("a", 2));
    all.add(item("b", 3));
    auto first = all.start();
    all.put_back(first.of, std::move(first.item));
    EXPECT_FALSE(all.next_due()) << "its delay has not begun";
    all.reopen(first.of, start_of_time + 1s);
    auto other = all.start();
    EXPECT_EQ(other.item.tag, 3U);
    EXPECT_FALSE(all.startable());
    EXPECT_EQ(all.next_due(), start_of_time + 1s);
    EXPECT_FALSE(all.open_due(start_of_time + 999ms));
    EXPECT_TRUE(all.open_due(start_of_time + 1s));
    EXPECT_EQ(all.start().item.tag, 1U) << "a later one of the key came first";
}

TEST(lanes, a_delivery_taken_over_with_a_delay_waits_for_it) {
    lanes all(100);
    all.add(item("a", 1), start_of_time + 5s);
    all.add(item("a", 2));
    EXPECT_FALSE(all.startable());
    all.open_due(start_of_time + 5s);
    EXPECT_EQ(all.start().item.tag, 1U);
}

TEST(lanes, poison_marks_those_here_and_those_to_come) {
    lanes all(100);
    all.add(item("a", 1));
    all.add(item("a", 2));
    auto first = all.start();
    all.poison(first.of);
    all.finish(first.of);
    all.add(item("a", 3));
    all.add(item("b", 4));
    for (const bool poisoned : {true, false, true}) {
        auto next = all.start();
        EXPECT_EQ(next.item.poisoned, poisoned) << next.item.tag;
        all.finish(next.of);
    }
    all.trust_driver();
    all.add(item("a", 5));
    EXPECT_FALSE(all.start().item.poisoned);
}

TEST(lanes, the_empty_key_is_never_poisoned) {
    lanes all(100);
    all.add(item("", 1));
    all.add(item("", 2));
    auto first = all.start();
    all.poison(first.of);
    all.finish(first.of);
    EXPECT_FALSE(all.start().item.poisoned);
}

TEST(lanes, says_when_a_lane_is_crowded) {
    lanes all(2);
    all.add(item("a", 1));
    EXPECT_FALSE(all.crowded());
    all.add(item("a", 2));
    EXPECT_TRUE(all.crowded());
    auto first = all.start();
    EXPECT_FALSE(all.crowded());
    all.put_back(first.of, std::move(first.item));
    EXPECT_TRUE(all.crowded());
    EXPECT_EQ(all.take_all().size(), 2U);
    EXPECT_FALSE(all.crowded());
}

TEST(lanes, workable_is_what_waits_for_no_time) {
    lanes all(100);
    all.add(item("a", 1));
    all.add(item("a", 2));
    all.add(item("b", 3));
    all.add(item("c", 4), start_of_time + 2s);
    EXPECT_EQ(all.workable(), 3U);
    auto first = all.start();
    EXPECT_EQ(all.workable(), 2U);
    all.put_back(first.of, std::move(first.item));
    EXPECT_EQ(all.workable(), 1U);
    all.add(item("a", 5));
    all.reopen(first.of, start_of_time + 1s);
    EXPECT_EQ(all.workable(), 1U);
    all.open_due(start_of_time + 1s);
    EXPECT_EQ(all.workable(), 4U);
    all.open_due(start_of_time + 2s);
    EXPECT_EQ(all.workable(), all.held());
    all.take_all();
    EXPECT_EQ(all.workable(), 0U);
}

TEST(lanes, take_all_leaves_what_was_started) {
    lanes all(100);
    all.add(item("a", 1));
    all.add(item("a", 2));
    all.add(item("a", 3));
    auto first = all.start();
    EXPECT_EQ(tags(all.take_all()), (std::vector<std::uint64_t>{2, 3}));
    EXPECT_FALSE(all.startable());
    all.finish(first.of);
    all.add(item("a", 4));
    EXPECT_EQ(all.start().item.tag, 4U);
}

/// Any schedule of arrivals, starts, finishes, waits and times: per key, first starts only rise, at most one is
/// out, and nothing is lost.
RC_GTEST_PROP(lanes, any_schedule_keeps_the_order_of_each_key, ()) {
    lanes all(4);
    auto now = start_of_time;
    std::uint64_t next_tag = 1;
    std::map<std::string, std::uint64_t> highest;
    std::vector<lanes::started> out;
    std::size_t added = 0;
    std::size_t finished = 0;
    const auto start_one = [&] {
        auto began = all.start();
        const std::string key(began.item.msg.key().value_or(""));
        for (const auto& each : out)
            RC_ASSERT(each.item.msg.key().value_or("") != key);
        auto& high = highest[key];
        RC_ASSERT(began.item.tag >= high);
        high = began.item.tag;
        out.push_back(std::move(began));
    };
    const auto take_one = [&] {
        const auto which = *rc::gen::inRange<std::size_t>(0, out.size());
        auto one = std::move(out[which]);
        out.erase(out.begin() + static_cast<std::ptrdiff_t>(which));
        return one;
    };
    const auto finish_one = [&] {
        const auto one = take_one();
        highest[std::string(one.item.msg.key().value_or(""))] = one.item.tag + 1;
        all.finish(one.of);
        ++finished;
    };
    for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6))) {
        if (step <= 1) {
            const auto key = std::string(1, static_cast<char>('a' + *rc::gen::inRange(0, 4)));
            const auto later = *rc::gen::inRange(0, 4) == 0 ? now + 3s : steady_time{};
            all.add(item(key, next_tag++), later);
            ++added;
        } else if (step == 2 && all.startable()) {
            start_one();
        } else if (step == 3 && !out.empty()) {
            finish_one();
        } else if (step == 4 && !out.empty()) {
            auto one = take_one();
            auto* of = one.of;
            all.put_back(of, std::move(one.item));
            all.reopen(of, now + std::chrono::seconds(*rc::gen::inRange(0, 5)));
        } else {
            now += 1s;
            all.open_due(now);
        }
    }
    while (finished < added) {
        now += 10s;
        all.open_due(now);
        if (all.startable()) start_one();
        RC_ASSERT(!out.empty());
        finish_one();
    }
    RC_ASSERT(all.held() == 0U);
    RC_ASSERT(all.workable() == 0U);
    RC_ASSERT(!all.startable());
}

}  // namespace
}  // namespace shove::decide
