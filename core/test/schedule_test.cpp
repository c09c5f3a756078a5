#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include "schedule_model.hpp"

namespace shove::test {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
    const char* const given = std::getenv(variable);
    return given && *given ? std::stoull(given) : otherwise;
}

/// Runs schedules of the seeds `first`, `first + 1`, …; a breach names its seed: `SHOVE_SCHEDULE_SEED=N` with
/// `SHOVE_SCHEDULES=1` runs that one again.
void run_schedules(std::uint64_t first, std::uint64_t n) {
    schedule_report sum;
    for (std::uint64_t seed = first; seed < first + n; ++seed) {
        const auto one = schedule_model(seed).run(20 + seed % 200);
        for (const auto& breach : one.breaches)
            ADD_FAILURE() << "SHOVE_SCHEDULE_SEED=" << seed << ": " << breach;
        if (testing::Test::HasFailure()) return;
        sum.sent += one.sent;
        sum.calls += one.calls;
        sum.crashes += one.crashes;
        sum.doubled += one.doubled;
        sum.dead += one.dead;
    }
    std::cout << n << " schedules from seed " << first << ": " << sum.sent << " sent, " << sum.calls << " calls, "
              << sum.crashes << " crashes, " << sum.doubled << " doubled, " << sum.dead << " dead\n";
    if (n < 100) return;
    EXPECT_GT(sum.crashes, 0U);
    EXPECT_GT(sum.doubled, 0U) << "no crash hit a decided message: the schedules are too tame";
    EXPECT_GT(sum.dead, 0U);
    EXPECT_LE(sum.dead, sum.sent);
}

TEST(schedules, keep_order_and_lose_nothing) {
    run_schedules(number_from("SHOVE_SCHEDULE_SEED", 1), number_from("SHOVE_SCHEDULES", 20'000));
}

/// New seeds each time.
TEST(schedules_long, keep_order_and_lose_nothing) {
    run_schedules(number_from("SHOVE_SCHEDULE_SEED", std::random_device()()),
                  number_from("SHOVE_SCHEDULES", 1'000'000));
}

}  // namespace
}  // namespace shove::test
