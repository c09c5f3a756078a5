#include <gtest/gtest.h>

#include "../src/decide/call_pace.hpp"

namespace shove::decide {
namespace {

using namespace std::chrono_literals;

call_pace after_many(std::chrono::nanoseconds each) {
    call_pace pace;
    for (int i = 0; i < 100; ++i)
        pace.ended(64, 64 * each);
    return pace;
}

TEST(call_pace_test, with_no_worker_one_is_always_woken) {
    EXPECT_TRUE(after_many(1ns).worth_a_worker(1, 0));
}

TEST(call_pace_test, calls_count_as_slow_until_many_were_seen) {
    call_pace pace;
    EXPECT_TRUE(pace.worth_a_worker(1, 3));
    pace.ended(1, 1us);
    EXPECT_TRUE(pace.worth_a_worker(1, 3));
}

TEST(call_pace_test, quick_calls_wake_nobody_and_a_long_row_of_them_does) {
    const auto pace = after_many(1us);
    EXPECT_FALSE(pace.worth_a_worker(50, 1));
    EXPECT_TRUE(pace.worth_a_worker(150, 1));
    EXPECT_FALSE(pace.worth_a_worker(150, 2));
}

TEST(call_pace_test, slow_calls_wake_one_for_each_that_waits) {
    EXPECT_TRUE(after_many(500us).worth_a_worker(1, 4));
    EXPECT_TRUE(after_many(1h).worth_a_worker(1, 9));
}

TEST(call_pace_test, a_stall_makes_them_slow_and_many_quick_ones_make_them_quick_again) {
    auto pace = after_many(1us);
    pace.stalled();
    EXPECT_TRUE(pace.worth_a_worker(1, 1));
    for (int i = 0; i < 100; ++i)
        pace.ended(64, 64us);
    EXPECT_FALSE(pace.worth_a_worker(1, 1));
}

TEST(call_pace_test, nothing_handled_says_nothing) {
    auto pace = after_many(1us);
    pace.ended(0, 1h);
    EXPECT_FALSE(pace.worth_a_worker(1, 1));
}

}  // namespace
}  // namespace shove::decide
