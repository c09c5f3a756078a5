#include "kafka_factory.hpp"

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
    return kafka_factory("kafka");
}

const bool child = register_child_roles(factory());

fault_report break_all(const fault_plan& plan) {
    const kafka_test::kafka_faults server;
    const kafka_test::own_topics topics(server);
    tcp_proxy network(server.port("PROXIED"), server.proxy_port());
    const auto store = [](const std::string& url) { return tagged_store<kafka>(kafka::parse(url).value(), url); };
    const auto options = "?partitions=2&session_timeout=6s&prefix=" + topics.prefix();
    auto through = store("kafka://127.0.0.1:" + std::to_string(server.proxy_port()) + options);
    auto direct = store(server.url() + options);
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

void expect_no_breach(fault_plan plan) {
    if (const char* seed = std::getenv("SHOVE_CRASH_SEED")) plan.seed = std::strtoull(seed, nullptr, 10);
    const auto report = break_all(plan);
    std::cout << report.confirmed << " confirmed, " << report.failed << " not stored, " << report.unknown
              << " of unknown fate; " << report.handled << " handled, " << report.dead << " dead; " << report.doubled
              << " doubled by " << report.faults << " faults, at most " << report.most_doubled << " by one\n";
    EXPECT_GE(report.confirmed, plan.messages);
    for (const auto& breach : report.breaches)
        ADD_FAILURE() << breach << " (SHOVE_CRASH_SEED=" << report.seed << ")";
}

fault_plan small(bool sequenced) {
    fault_plan made;
    made.messages = 3'000;
    made.broker_kills = 1;
    // A group does nothing until it has missed a dead member for its session of 6 s.
    made.kill_every = 15s;
    made.cut_every = 5s;
    made.sequenced = sequenced;
    return made;
}

TEST(kafka_ledger, small) {
    expect_no_breach(small(false));
}
TEST(kafka_ledger, small_in_order) {
    expect_no_breach(small(true));
}

}  // namespace
}  // namespace shove::testkit
