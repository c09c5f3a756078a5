#include "rabbitmq_factory.hpp"

#include <shove/testkit/child_process.hpp>
#include <shove/testkit/ledger.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

/// Worker processes that are killed at random points.
namespace shove::testkit {
namespace {

backend_factory factory() {
    return rabbitmq_factory("rabbitmq", "quorum");
}

const bool child = register_child_roles(factory());

void expect_no_breach(unsigned points, bool sequenced) {
    const char* seed = std::getenv("SHOVE_CRASH_SEED");
    crash_plan plan;
    plan.points = points;
    plan.seed = seed ? std::strtoull(seed, nullptr, 10) : 0;
    plan.sequenced = sequenced;
    plan.dead_once = false;
    const auto report = run_crashes(factory(), plan);
    std::cout << report.published << " confirmed, " << report.doubled << " calls repeated\n";
    EXPECT_GT(report.published, points) << "too little was going on";
    EXPECT_EQ(report.handled, report.published);
    for (const auto& breach : report.breaches)
        ADD_FAILURE() << breach << " (SHOVE_CRASH_SEED=" << report.seed << ")";
}

TEST(rabbitmq_crash_ledger, few_points) {
    expect_no_breach(8, false);
}
TEST(rabbitmq_crash_ledger, few_points_in_order) {
    expect_no_breach(8, true);
}
TEST(rabbitmq_crash_ledger_long, many_points) {
    expect_no_breach(100, false);
}
TEST(rabbitmq_crash_ledger_long, many_points_in_order) {
    expect_no_breach(100, true);
}

}  // namespace
}  // namespace shove::testkit
