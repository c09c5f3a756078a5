#include <algorithm>
#include <thread>

#include "lease_stage.hpp"

namespace shove::testkit {
namespace {

void restart_keeps_all(lease_stage& on) {
    lease_receipt first;
    lease_token acked;
    lease_token held;
    {
        const auto broker = on.open();
        subscribe(broker);
        first = publish(broker, "1");
        publish(broker, "2");
        acked = receive_one(broker).token;
        held = receive_one(broker).token;
        ASSERT_TRUE(broker.acknowledge(acked));
        broker.close();
    }
    const auto broker = on.open();
    const auto again = publish(broker, "1");
    EXPECT_TRUE(again.duplicate);
    EXPECT_EQ(again.id, first.id);
    EXPECT_EQ(code_of(broker.acknowledge(acked)), errc::unknown_lease);
    EXPECT_TRUE(receive(broker).empty()) << "its lease goes on";
    on.pass(30s);
    EXPECT_EQ(code_of(broker.acknowledge(held)), errc::lease_expired);
    const auto got = receive_one(broker);
    EXPECT_EQ(got.envelope->sequence, 2U);
    EXPECT_EQ(got.attempt, 2U);
}

void a_token_is_good_elsewhere(lease_stage& on) {
    const auto one = on.open();
    const auto other = on.open();
    subscribe(one);
    publish(one, "k");
    const auto text = receive_one(one).token.text();
    EXPECT_TRUE(other.acknowledge(lease_token::parse(text).value()));
    EXPECT_EQ(code_of(one.acknowledge(lease_token::parse(text).value())), errc::unknown_lease);
}

void two_brokers_one_original(lease_stage& on) {
    const std::vector<lease_broker> brokers{on.open(), on.open()};
    std::vector<result<lease_receipt>> answers(16, error(errc::internal));
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < answers.size(); ++i)
            threads.emplace_back([&, i] { answers[i] = brokers[i % 2].publish(message_of("k")); });
    }
    EXPECT_EQ(std::ranges::count_if(answers, [](const auto& a) { return !a.value().duplicate; }), 1);
    subscribe(brokers[0], lease_start::kind::earliest);
    std::vector<std::size_t> taken(2);
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < 2; ++i)
            threads.emplace_back([&, i] { taken[i] = receive(brokers[i]).size(); });
    }
    EXPECT_EQ(taken[0] + taken[1], 1U);
}

void other_limits_are_refused(lease_stage& on) {
    const lease_limits first{100, 10, 5, 1024};
    on.open(lease_stage::limited(first));
    for (auto other : {lease_limits{101, 10, 5, 1024}, lease_limits{100, 11, 5, 1024}, lease_limits{100, 10, 6, 1024},
                       lease_limits{100, 10, 5, 1025}}) {
        EXPECT_EQ(code_of(on.try_open(lease_stage::limited(other))), errc::configuration_conflict);
    }
    EXPECT_TRUE(on.try_open(lease_stage::limited(first)));
}

void namespaces_do_not_meet(lease_stage& on) {
    lease_options options = lease_stage::limited({1, 1, 5, 1024});
    options.name_space = "one";
    const auto one = on.open(options);
    options.name_space = "two";
    options.limits.attempts = 9;
    const auto two = on.open(options);
    EXPECT_FALSE(publish(one, "k", "a").duplicate);
    EXPECT_FALSE(publish(two, "k", "b").duplicate) << "neither the key nor the limit is shared";
    subscribe(one, lease_start::kind::earliest);
    EXPECT_EQ(code_of(two.receive(request_of())), errc::unknown_subscription);
    subscribe(two, lease_start::kind::earliest);
    const auto held = receive_one(one);
    EXPECT_EQ(held.envelope->name_space, "one");
    EXPECT_EQ(code_of(two.acknowledge(held.token)), errc::unknown_lease) << "a token is good in its namespace only";
    EXPECT_TRUE(one.acknowledge(held.token)) << "and unharmed";
    EXPECT_EQ(two.purge("events", 10).value(), 0U);
    EXPECT_EQ(one.purge("events", 10).value(), 1U);
    EXPECT_EQ(two.stats().value().retained, 1U);
}

void another_process_wakes(lease_stage& on) {
    const auto one = on.open();
    const auto other = on.open();
    subscribe(one);
    std::vector<leased> got;
    {
        std::jthread waiting([&] {
            auto what = request_of();
            what.wait = 1h;
            got = one.receive(what).value();
        });
        publish(other, "k");
    }
    EXPECT_EQ(got.size(), 1U);
}

}  // namespace

void add_lease_durable_cases(std::vector<lease_case>& into) {
    into.insert(into.end(), {{"durable", "restart_keeps_all", restart_keeps_all, true},
                             {"durable", "a_token_is_good_elsewhere", a_token_is_good_elsewhere, true},
                             {"durable", "two_brokers_one_original", two_brokers_one_original, true},
                             {"durable", "other_limits_are_refused", other_limits_are_refused, true},
                             {"durable", "namespaces_do_not_meet", namespaces_do_not_meet, true},
                             {"durable", "another_broker_wakes", another_process_wakes, true}});
}

}  // namespace shove::testkit
