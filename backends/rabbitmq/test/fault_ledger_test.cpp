#include "rabbitmq_factory.hpp"

#include <shove/testkit/child_process.hpp>
#include <shove/testkit/fault_ledger.hpp>
#include <shove/testkit/tcp_proxy.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

/// The node, its network and the workers break while messages flow: the books must agree.
namespace shove::testkit {
namespace {

using namespace std::chrono_literals;

/// Of the worker processes, which are told where the store is.
backend_factory factory() {
    return rabbitmq_factory("rabbitmq", "quorum");
}

const bool child = register_child_roles(factory());

fault_plan with_seed(fault_plan plan) {
    if (const char* seed = std::getenv("SHOVE_CRASH_SEED")) plan.seed = std::strtoull(seed, nullptr, 10);
    return plan;
}

fault_plan small(bool sequenced) {
    fault_plan made;
    made.messages = 3'000;
    made.broker_kills = 1;
    made.sequenced = sequenced;
    return with_seed(made);
}

fault_plan whole(bool sequenced) {
    fault_plan made;
    made.sequenced = sequenced;
    return with_seed(made);
}

fault_report break_all(const fault_plan& plan, const std::string& queues) {
    const rabbitmq_test::rabbitmq_faults server;
    const rabbitmq_test::vhost host(server);
    tcp_proxy network(server.port());
    const auto store = [](const std::string& url) { return tagged_store<rabbitmq>(rabbitmq::parse(url).value(), url); };
    auto through = store(host.url(network.port()) + "?queues=" + queues);
    auto direct = store(url_of(server, host, queues));
    fault_target target{
        through,
        direct,
        [&network] {
            const bool any = network.connections() > 0;
            network.reset_all();
            return any;
        },
        [&server] { server.kill(); },
        [&server] { server.up(); },
        150ms,
    };
    return run_faults(target, plan);
}

void print(const fault_report& report) {
    std::cout << report.confirmed << " confirmed, " << report.failed << " not stored, " << report.unknown
              << " of unknown fate; " << report.handled << " handled, " << report.dead << " dead, "
              << report.lost_retries << " lost by the node on their way to a retry; " << report.doubled
              << " doubled by " << report.faults << " faults, at most " << report.most_doubled << " by one";
    for (const auto& after : report.resumed)
        std::cout << "; traffic went on " << after.count() << " ms after the node served again";
    std::cout << std::endl;
}

void expect_no_breach(const fault_plan& plan, const std::string& queues) {
    const auto report = break_all(plan, queues);
    print(report);
    EXPECT_GE(report.confirmed, plan.messages);
    EXPECT_GT(report.doubled, 0U) << "the faults met nothing";
    for (const auto& breach : report.breaches)
        ADD_FAILURE() << breach << " (SHOVE_CRASH_SEED=" << report.seed << ")";
    // G8
    for (const auto& after : report.resumed)
        EXPECT_LT(after, 10s);
}

/// A node that is killed while it moves a message that has waited may lose it: said on the backend's page.
void expect_no_breach_on_classic_queues(fault_plan plan) {
    plan.retries_may_be_lost = true;
    expect_no_breach(plan, "classic");
}

TEST(rabbitmq_fault_ledger, small) {
    expect_no_breach(small(false), "quorum");
}
TEST(rabbitmq_fault_ledger, small_in_order) {
    expect_no_breach(small(true), "quorum");
}
TEST(rabbitmq_fault_ledger, small_on_classic_queues) {
    expect_no_breach_on_classic_queues(small(false));
}
TEST(rabbitmq_fault_ledger_long, whole) {
    expect_no_breach(whole(false), "quorum");
}
TEST(rabbitmq_fault_ledger_long, whole_in_order) {
    expect_no_breach(whole(true), "quorum");
}
TEST(rabbitmq_fault_ledger_long, whole_on_classic_queues) {
    expect_no_breach_on_classic_queues(whole(false));
}
/// Without a kill of the node: a new start of it moves keys to other shards, as the backend's page says. (A small one
/// is over before a cut meets it.)
TEST(rabbitmq_fault_ledger_long, whole_in_order_on_classic_queues) {
    auto plan = whole(true);
    plan.broker_kills = 0;
    expect_no_breach(plan, "classic");
}

}  // namespace
}  // namespace shove::testkit
