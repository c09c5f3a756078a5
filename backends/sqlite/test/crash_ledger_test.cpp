#include "sqlite_factory.hpp"

#include <shove/testkit/child_process.hpp>
#include <shove/testkit/ledger.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

namespace shove::testkit {
namespace {

/// A killed process leaves what the system has: the disk need not be waited for.
backend_factory quick_factory() {
    return sqlite_factory(sqlite::durability::normal);
}

const bool child = register_child_roles(quick_factory());

std::uint64_t seed_from_environment() {
    const char* text = std::getenv("SHOVE_CRASH_SEED");
    return text ? std::strtoull(text, nullptr, 10) : 0;
}

void expect_no_breach(unsigned points, bool sequenced = false) {
    crash_plan plan;
    plan.points = points;
    plan.seed = seed_from_environment();
    plan.sequenced = sequenced;
    const auto report = run_crashes(quick_factory(), plan);
    std::cout << report.published << " confirmed, " << report.doubled << " calls repeated\n";
    EXPECT_GT(report.published, 5U * points) << "too little was going on";
    EXPECT_EQ(report.handled, report.published);
    for (const auto& breach : report.breaches)
        ADD_FAILURE() << breach << " (SHOVE_CRASH_SEED=" << report.seed << ")";
}

/// Killed at 15 random points: nothing that was confirmed is lost, repeats are flagged and bounded.
TEST(crash_ledger, few_points) {
    expect_no_breach(15);
}

/// Two processes share a sequenced topic, and either is killed: each key's order holds besides.
TEST(crash_ledger, few_points_in_order) {
    expect_no_breach(15, true);
}

/// The same with 200 points, for `make test-long`.
TEST(crash_ledger_long, many_points) {
    expect_no_breach(200);
}
TEST(crash_ledger_long, many_points_in_order) {
    expect_no_breach(200, true);
}

}  // namespace
}  // namespace shove::testkit
