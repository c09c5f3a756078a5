#include "kafka_factory.hpp"

#include <shove/shove.hpp>
#include <shove/testkit/child_process.hpp>
#include <shove/testkit/ledger.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

/// Worker processes that are killed at random points.
namespace shove::testkit {
namespace {

backend_factory factory() {
    return kafka_factory("kafka");
}

const bool child = register_child_roles(factory());

void expect_no_breach(crash_plan plan) {
    const char* seed = std::getenv("SHOVE_CRASH_SEED");
    plan.seed = seed ? std::strtoull(seed, nullptr, 10) : 0;
    const auto report = run_crashes(factory(), plan);
    std::cout << report.published << " confirmed, " << report.doubled << " calls repeated\n";
    EXPECT_GT(report.published, plan.points) << "too little was going on";
    EXPECT_EQ(report.handled, report.published);
    for (const auto& breach : report.breaches)
        ADD_FAILURE() << breach << " (SHOVE_CRASH_SEED=" << report.seed << ")";
}

TEST(kafka_crash_ledger, few_points) {
    expect_no_breach({.points = 8, .dead_once = false});
}
TEST(kafka_crash_ledger, few_points_in_order) {
    expect_no_breach({.points = 8, .sequenced = true, .dead_once = false});
}

}  // namespace
}  // namespace shove::testkit
