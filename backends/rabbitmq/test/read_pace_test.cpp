#include "read_pace.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace {

using namespace std::chrono_literals;
using shove::steady_time;
using shove::rabbitmq_backend::read_pace;

struct read_pace_test : testing::Test {
    /// Whether the next read waits, after one with so many deliveries, so long after the last.
    bool waits(std::size_t deliveries, std::chrono::nanoseconds after, bool near_limit = false) {
        now += after;
        pace.read(deliveries, near_limit, now);
        return pace.next() > now;
    }

    read_pace pace;
    steady_time now = std::chrono::steady_clock::now();
};

TEST_F(read_pace_test, what_comes_after_a_pause_is_read_at_once) {
    EXPECT_FALSE(waits(1, 10s));
    EXPECT_FALSE(waits(200, 10s));
    EXPECT_FALSE(waits(read_pace::busy_per_ms - 1, 1ms));
}

TEST_F(read_pace_test, a_stream_is_read_in_pieces) {
    waits(1, 1s);
    EXPECT_TRUE(waits(1, 50us));
    EXPECT_EQ(pace.next(), now + read_pace::rest);
    for (int i = 0; i < 10; ++i)
        EXPECT_TRUE(waits(5, read_pace::rest + 60us));
    EXPECT_FALSE(waits(3, read_pace::rest + 60us)) << "the stream has ended";
}

TEST_F(read_pace_test, a_consumer_that_may_soon_get_no_more_does_not_wait) {
    waits(1, 1s);
    EXPECT_FALSE(waits(10, 50us, true));
    EXPECT_TRUE(waits(10, 50us, false));
}

TEST_F(read_pace_test, a_clock_that_has_not_moved_is_no_division_by_nothing) {
    waits(1, 1s);
    EXPECT_TRUE(waits(1, 0ns));
}

}  // namespace
