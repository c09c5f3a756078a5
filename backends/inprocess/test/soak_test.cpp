#include <shove/testkit/soak.hpp>

#include <gtest/gtest.h>

#include <iostream>

#include "inprocess_factory.hpp"

namespace shove::testkit {
namespace {

/// For `make test-long`: hours of work in minutes; nothing lost, nothing doubled, memory flat.
TEST(soak_long, counts_are_exact_and_memory_is_flat) {
    const auto report = run_soak(inprocess_factory(), soak_duration());
    std::cout << report.published << " published, " << report.dead << " dead; memory " << (report.settled_bytes >> 20)
              << " MiB, then at most " << (report.highest_bytes >> 20) << " MiB\n";
    EXPECT_GT(report.published, 10'000U) << "too little was going on";
    EXPECT_EQ(report.dead, report.expected_dead);
    EXPECT_EQ(report.acked, report.published - report.expected_dead);
    if (memory_is_ours()) {
        EXPECT_LT(report.highest_bytes, report.settled_bytes + (16 << 20));
    }
}

}  // namespace
}  // namespace shove::testkit
