// Leases and crashes: who gets a delivery back, when, and who is blamed.

#include "support.hpp"

#include "database.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace shove::sqlite_test {

namespace {

using kind = spi::settlement_kind;
using sqlite_backend::database;

struct recovery_test : testing::Test {
    scratch_folder folder;
    topology_ptr orders = plain_topology();

    void fill(std::vector<std::string> bodies) {
        client c(folder.file());
        c.declare(orders);
        c.publish(orders, std::move(bodies));
    }
    /// A process that dies with `count` deliveries; it isolates the one with this body, if any.
    void crash_with(std::size_t count, const std::string& isolated = "") {
        in_killed_child([&, this] {
            auto* c = new client(folder.file());
            auto* held = new std::shared_ptr(c->subscribe(orders));
            for (const auto& one : receive_all(**held, count)) {
                if (body_of(one) == isolated) isolate(**held, one.tag);
            }
        });
    }
    std::map<std::string, spi::delivery> take(client& c, std::size_t count) {
        std::map<std::string, spi::delivery> found;
        auto sub = c.subscribe(orders);
        for (auto& one : receive_all(*sub, count)) {
            auto name = body_of(one);
            found.emplace(std::move(name), std::move(one));
        }
        return found;
    }
};

std::uint32_t crashes(const spi::delivery& d) {
    return d.past ? d.past->crashes : 0;
}

TEST_F(recovery_test, a_dead_process_makes_suspects_of_what_it_held) {
    fill({"a", "b", "c"});
    crash_with(2);
    client c(folder.file());
    const auto found = take(c, 3);
    EXPECT_EQ(crashes(found.at("a")), 1u);
    EXPECT_EQ(crashes(found.at("b")), 1u);
    EXPECT_EQ(crashes(found.at("c")), 0u);
    EXPECT_TRUE(found.at("a").redelivered);
    EXPECT_FALSE(found.at("c").redelivered);
    EXPECT_EQ(found.at("a").deliveries, 2u);
}

TEST_F(recovery_test, an_isolated_delivery_takes_all_the_blame) {
    fill({"a", "b"});
    crash_with(2);
    crash_with(2, "b");
    client c(folder.file());
    const auto found = take(c, 2);
    EXPECT_EQ(crashes(found.at("a")), 1u);
    EXPECT_EQ(crashes(found.at("b")), 2u);
    EXPECT_TRUE(found.at("a").redelivered);
}

TEST_F(recovery_test, a_waiting_process_notices_a_death_without_waiting_for_the_lease) {
    fill({"a"});
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const auto child = ::fork();
    if (child == 0) {
        auto* c = new client(folder.file());
        auto* sub = new std::shared_ptr(c->subscribe(orders));
        receive_all(**sub, 1);
        if (::write(ready[1], "x", 1) != 1) ::_exit(1);
        ::pause();
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    client c(folder.file());
    auto sub = c.subscribe(orders);
    outcome_of<result<deliveries>> waiting;
    sub->receive(1, waiting.callback());
    EXPECT_FALSE(waiting.within(300ms)) << "its owner lives";
    const auto killed = std::chrono::steady_clock::now();
    ::kill(child, SIGKILL);
    auto got = waiting.get().value();
    EXPECT_LT(std::chrono::steady_clock::now() - killed, 10s) << "long before the lease of 30 s";
    ASSERT_EQ(got.size(), 1u);
    EXPECT_TRUE(got[0].redelivered);
    EXPECT_EQ(crashes(got[0]), 1u);
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_F(recovery_test, an_orderly_end_blames_nobody) {
    fill({"a"});
    {
        client c(folder.file());
        auto sub = c.subscribe(orders);
        receive(*sub);
        EXPECT_FALSE(c.close());
    }
    client c(folder.file());
    const auto found = take(c, 1);
    EXPECT_EQ(crashes(found.at("a")), 0u);
    EXPECT_TRUE(found.at("a").redelivered) << "its handler may have run";
}

TEST_F(recovery_test, an_expired_lease_goes_to_another_and_its_late_settlement_is_refused) {
    auto time = std::make_shared<manual_clock>();
    client slow(folder.file(), time);
    slow.declare(orders);
    slow.publish(orders, {"a"});
    auto slow_sub = slow.subscribe(orders);
    auto held = receive(*slow_sub);

    client quick(folder.file(), time);
    auto sub = quick.subscribe(orders);
    outcome_of<result<deliveries>> waiting;
    sub->receive(1, waiting.callback());
    time->advance(29s);
    EXPECT_TRUE(extend(*slow_sub, {held[0].tag}).empty());
    time->advance(29s);
    EXPECT_FALSE(waiting.within(1500ms)) << "it was renewed";
    time->advance(2s);
    auto taken = waiting.get().value();
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_TRUE(taken[0].redelivered);
    EXPECT_EQ(crashes(taken[0]), 0u);
    const auto tag = held[0].tag;
    const auto late = settle(*slow_sub, std::move(held), kind::complete);
    ASSERT_EQ(late.size(), 1u);
    EXPECT_EQ(late[0].cause, errc::lease_lost);
    EXPECT_EQ(extend(*slow_sub, {tag}), std::vector{tag});
    EXPECT_TRUE(settle(*sub, std::move(taken), kind::complete).empty());
    EXPECT_EQ(quick.depth("orders").in_flight, 0u);
}

TEST_F(recovery_test, a_step_of_the_calendar_ends_no_lease) {
    auto time = std::make_shared<manual_clock>();
    client owner(folder.file(), time);
    owner.declare(orders);
    owner.publish(orders, {"a"});
    auto sub = owner.subscribe(orders);
    auto held = receive(*sub);
    client other(folder.file(), time);
    auto rival = other.subscribe(orders);
    outcome_of<result<deliveries>> waiting;
    rival->receive(1, waiting.callback());
    time->step_wall(1h);
    EXPECT_FALSE(waiting.within(1500ms));
    EXPECT_TRUE(settle(*sub, std::move(held), kind::complete).empty());
    rival->cancel_receive();
    waiting.get();
}

TEST_F(recovery_test, a_calendar_stepped_forward_makes_delayed_messages_due) {
    auto time = std::make_shared<manual_clock>();
    client c(folder.file(), time);
    c.declare(orders);
    c.publish(orders, {"a"}, 1h);
    auto sub = c.subscribe(orders);
    outcome_of<result<deliveries>> waiting;
    sub->receive(1, waiting.callback());
    EXPECT_FALSE(waiting.within(100ms));
    time->step_wall(1h);
    EXPECT_EQ(waiting.get().value().size(), 1u);
}

TEST_F(recovery_test, a_release_by_a_live_owner_reaches_a_waiting_process) {
    client one(folder.file());
    client two(folder.file());
    one.declare(orders);
    auto sub = two.subscribe(orders);
    outcome_of<result<deliveries>> waiting;
    sub->receive(10, waiting.callback());
    one.publish(orders, {"a"});
    auto got = waiting.get().value();
    ASSERT_EQ(got.size(), 1u);
    auto sub_one = one.subscribe(orders);
    outcome_of<result<deliveries>> second;
    sub_one->receive(10, second.callback());
    EXPECT_TRUE(settle(*sub, std::move(got), kind::release).empty());
    const auto released = second.get().value();
    ASSERT_EQ(released.size(), 1u);
    EXPECT_FALSE(released[0].redelivered);
}

TEST_F(recovery_test, news_of_another_process_is_not_missed_while_this_one_writes) {
    client one(folder.file());
    client two(folder.file());
    const auto other = plain_topology("other");
    one.declare(orders);
    one.declare(other);
    auto sub = one.subscribe(orders);
    for (int i = 0; i < 200; ++i) {
        outcome_of<result<deliveries>> waiting;
        sub->receive(1, waiting.callback());
        outcome_of<spi::publish_report> busy;
        spi::publish_request request;
        request.messages.push_back({text_message("noise"), 0ms});
        one.driver().publish(*other, std::move(request), busy.callback());
        two.publish(orders, {std::to_string(i)});
        auto got = waiting.get().value();
        ASSERT_EQ(body_of(got.at(0)), std::to_string(i));
        busy.get();
        EXPECT_TRUE(settle(*sub, std::move(got), kind::complete).empty());
    }
}

TEST_F(recovery_test, after_a_power_cut_what_may_have_been_handed_out_counts_as_redelivered) {
    fill({"a", "b"});
    crash_with(1);
    {
        // Another start of the machine, and the last claims lost with the write-ahead log's tail.
        database db({.path = folder.file()});
        db.run("UPDATE store SET boot_id = 'earlier'");
        db.run("DELETE FROM lease");
        db.run("UPDATE reader_group SET cursor = (SELECT id << 44 FROM queue WHERE queue.id = queue_id)");
        ASSERT_TRUE(db.ok()) << db.failure().message();
    }
    client c(folder.file());
    c.publish(orders, {"later"});
    const auto found = take(c, 3);
    EXPECT_TRUE(found.at("a").redelivered);
    EXPECT_TRUE(found.at("b").redelivered);
    EXPECT_FALSE(found.at("later").redelivered);
}

TEST_F(recovery_test, nothing_confirmed_is_lost_when_a_publisher_is_killed) {
    for (int round = 0; round < 5; ++round) {
        const auto file = folder.file("round" + std::to_string(round));
        int told[2];
        ASSERT_EQ(::pipe(told), 0);
        const auto child = ::fork();
        if (child == 0) {
            auto* c = new client(file);
            c->declare(orders);
            for (int i = 0;; ++i) {
                c->publish(orders, {std::to_string(i)});
                if (::write(told[1], &i, sizeof i) != sizeof i) ::_exit(1);
            }
        }
        int last = -1;
        while (last < 20 + round * 7)
            ASSERT_EQ(::read(told[0], &last, sizeof last), ssize_t(sizeof last));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        ::close(told[1]);
        while (::read(told[0], &last, sizeof last) == sizeof last) {
        }
        ::close(told[0]);
        client c(file);
        EXPECT_GE(c.depth("orders").ready, static_cast<std::uint64_t>(last) + 1);
        EXPECT_EQ(c.browse("orders", 0, 100'000).size(), c.depth("orders").ready);
    }
}

}  // namespace

}  // namespace shove::sqlite_test
