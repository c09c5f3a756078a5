// Since when the oldest delivery of a channel is in hand.

#include <gtest/gtest.h>

#include "arrival_times.hpp"

namespace shove::rabbitmq_test {
namespace {

using namespace std::chrono_literals;
using rabbitmq_backend::arrival_times;

constexpr arrival_times::time start{1h};

TEST(arrival_times_test, tells_when_each_came) {
    arrival_times times;
    EXPECT_FALSE(times.of(1));
    times.note(1, start, 1s);  // nothing has come
    EXPECT_FALSE(times.of(1));
    times.note(3, start + 5s, 1s);
    times.note(4, start + 9s, 1s);
    EXPECT_EQ(times.of(1), start + 5s);
    EXPECT_EQ(times.of(2), start + 5s);
    EXPECT_EQ(times.of(3), start + 9s);
    EXPECT_FALSE(times.of(4));
    times.note(5, start + 20s, 1s);
    EXPECT_EQ(times.of(4), start + 20s);
    times.clear();
    EXPECT_FALSE(times.of(1));
}

TEST(arrival_times_test, is_at_most_a_grain_too_early) {
    arrival_times times;
    for (std::uint64_t n = 1; n <= 1'000; ++n)
        times.note(n + 1, start + n * 1ms, 100ms);
    for (std::uint64_t n = 1; n <= 1'000; ++n) {
        const auto told = times.of(n);
        ASSERT_TRUE(told);
        EXPECT_LE(*told, start + n * 1ms);
        EXPECT_GT(*told, start + n * 1ms - 100ms);
    }
}

}  // namespace
}  // namespace shove::rabbitmq_test
