#include "rabbitmq_factory.hpp"

#include <shove/shove.hpp>
#include <shove/testkit/child_process.hpp>
#include <shove/testkit/events.hpp>
#include <shove/testkit/ledger.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>

/// Worker processes that are killed at random points.
namespace shove::testkit {
namespace {

using namespace std::chrono_literals;

backend_factory factory() {
    return rabbitmq_factory("rabbitmq", "quorum");
}
backend_factory classic() {
    return rabbitmq_factory("rabbitmq_classic", "classic");
}
backend_factory transactional() {
    return rabbitmq_factory("rabbitmq_transactional", "classic&transactional=true");
}

const bool child = register_child_roles(factory());

std::uint64_t chosen_seed() {
    const char* seed = std::getenv("SHOVE_CRASH_SEED");
    return seed ? std::strtoull(seed, nullptr, 10) : 0;
}

void expect_no_breach(const backend_factory& of, crash_plan plan) {
    plan.seed = chosen_seed();
    const auto report = run_crashes(of, plan);
    std::cout << report.published << " confirmed, " << report.doubled << " calls repeated\n";
    EXPECT_GT(report.published, plan.points) << "too little was going on";
    EXPECT_EQ(report.handled, report.published);
    for (const auto& breach : report.breaches)
        ADD_FAILURE() << breach << " (SHOVE_CRASH_SEED=" << report.seed << ")";
}

TEST(rabbitmq_crash_ledger, few_points) {
    expect_no_breach(factory(), {.points = 8, .dead_once = false});
}
TEST(rabbitmq_crash_ledger, few_points_in_order) {
    expect_no_breach(factory(), {.points = 8, .sequenced = true, .dead_once = false});
}
TEST(rabbitmq_crash_ledger, few_points_in_transactions) {
    expect_no_breach(transactional(), {.points = 8});
}
TEST(rabbitmq_crash_ledger, few_points_in_order_in_transactions) {
    expect_no_breach(transactional(), {.points = 8, .sequenced = true});
}
TEST(rabbitmq_crash_ledger_long, many_points) {
    expect_no_breach(factory(), {.points = 100, .dead_once = false});
}
TEST(rabbitmq_crash_ledger_long, many_points_in_order) {
    expect_no_breach(factory(), {.points = 100, .sequenced = true, .dead_once = false});
}
TEST(rabbitmq_crash_ledger_long, many_points_in_transactions) {
    expect_no_breach(transactional(), {.points = 100});
}
TEST(rabbitmq_crash_ledger_long, many_points_in_order_in_transactions) {
    expect_no_breach(transactional(), {.points = 100, .sequenced = true});
}

// Workers that do nothing but copy: each message is retried once, and then rejected.

runtime_topic copied_topic() {
    return runtime_topic::make(shove::topology("copied").hold(5ms).dlq()).value();
}

int copy_for_ever(backend_store& store, const child_arguments& told) {
    const auto book = std::make_shared<ledger>(told.at("ledger"));
    const auto broker = store.open({});
    auto group = broker.consumer_group();
    consumer_options how;
    how.consumers = 2;
    how.prefetch = 20;
    how.crash_budget = 1'000'000;  // the killer comes from outside: no message is to blame
    group.add(
        copied_topic(),
        [book](std::span<const std::byte>, const delivery& info) {
            book->note('H', info.id());
            return info.attempt() == 1 ? retry("as asked") : reject("as asked");
        },
        how);
    group.start();
    (void)gate().pass(10min);
    return 0;
}

const bool copying_known = add_child_role("copy_for_ever", &copy_for_ever);

struct kill_report {
    std::size_t kills = 0;
    std::map<std::string, std::size_t> dead;  ///< How often each is.
    std::size_t doubled = 0;
};

/// Kills workers, each a little after it has begun to work, until all messages are dead.
kill_report kill_copying_workers(const backend_factory& of, std::size_t messages) {
    const scratch_folder folder("shove-kills");
    const auto file = folder.path() / "ledger";
    const auto store = of.make_store();
    const auto broker = store->open({});
    const auto topic = copied_topic();
    broker.declare(topic);
    std::vector<shove::publisher<any_backend>::raw_outgoing> all(messages);
    for (std::size_t i = 0; i < messages; ++i)
        all[i].options.id = std::to_string(i);
    EXPECT_EQ(broker.publisher().publish_batch(topic, all).count(publish_status::ok), messages);

    const auto seed = chosen_seed() ? chosen_seed() : std::random_device{}();
    std::cout << "kills by seed " << seed << std::endl;
    std::mt19937_64 random(seed);
    kill_report report;
    const auto left = [&] {
        const auto depth = broker.depth(topic);
        return depth.ready + depth.in_flight + depth.delayed;
    };
    const auto dead = [&] {
        report.dead.clear();
        broker.admin().browse(topic.topology->dead_letter_queue, {}, [&](const spi::browsed& letter) {
            ++report.dead[letter.msg.id()];
            return true;
        });
        return report.dead.size();
    };
    // Not until nothing is left: what a killed worker had is for a moment in no count.
    while (dead() < messages && report.kills < 300) {
        child_process worker("copy_for_ever", {{"store", store->location()}, {"ledger", file.string()}});
        const auto calls = [&] { return std::filesystem::exists(file) ? std::filesystem::file_size(file) / 6 : 0; };
        const auto goal = calls() + 20 + random() % 200;
        const std::chrono::microseconds then(random() % 3'000);
        // What a worker has just got is for a moment in no count, either: it is the end when that lasts.
        auto ended = lasting(1s, [&] { return left() == 0; });
        eventually("its work, or the end", [&] { return calls() > goal || ended(); });
        until(std::chrono::steady_clock::now() + then);
        worker.kill();
        ++report.kills;
    }
    for (const auto& [id, times] : report.dead)
        report.doubled += times - 1;
    std::cout << report.kills << " kills, " << report.doubled << " dead letters too many" << std::endl;
    EXPECT_EQ(report.dead.size(), messages);
    EXPECT_GE(report.kills, 5U) << "too little was going on";
    return report;
}

TEST(rabbitmq_kills, double_nothing_in_transactions) {
    EXPECT_EQ(kill_copying_workers(transactional(), 600).doubled, 0U);
}
/// What the other way costs.
TEST(rabbitmq_kills, double_what_was_in_hand_without) {
    const auto report = kill_copying_workers(classic(), 600);
    EXPECT_GT(report.doubled, 0U) << "the test above would not have seen any";
    EXPECT_LE(report.doubled, report.kills * 2 * 2 * 20);
}

}  // namespace
}  // namespace shove::testkit
