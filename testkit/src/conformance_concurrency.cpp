#include "stage.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <thread>

namespace shove::testkit {
namespace {

void fill(stage& on, const runtime_topic& topic, std::size_t n) {
    std::vector<std::string> bodies;
    ASSERT_TRUE(on.publisher().publish_batch(topic, numbered(bodies, n)).all_stored());
}

void prefetch_handlers_meet(stage& on) {
    on.options().worker_threads = 16;
    const auto topic = on.topic();
    fill(on, topic, 24);
    const meeting all(8);
    const crowd inside;
    const counter met;
    const probe handler([=](const seen&, const delivery&) {
        const auto in = inside.enter();
        if (all.join()) met.add();
        return ack;
    });
    auto consuming = on.consume(topic, handler, consumer_options{.prefetch = 8});
    met.wait(24, "handlers that met");
    on.wait_empty(queue_of(topic));
    EXPECT_EQ(inside.most(), 8U) << "more calls at once than prefetch allows";
}

void sequential_in_order(stage& on) {
    const auto topic = on.topic();
    fill(on, topic, 200);
    const crowd inside;
    const probe handler([inside](const seen&, const delivery&) {
        const auto in = inside.enter();
        return ack;
    });
    auto consuming = on.consume(topic, handler, consumer_options{}.sequential());
    const auto calls = handler.wait(200);
    for (std::size_t i = 0; i < calls.size(); ++i)
        EXPECT_EQ(calls[i].payload, numbered_body(i));
    EXPECT_EQ(inside.most(), 1U);
}

void prefetch_bounds_unsettled(stage& on) {
    const auto topic = on.topic();
    fill(on, topic, 20);
    const gate hold;
    const probe handler([hold](const seen&, const delivery&) {
        hold.arrive();
        return ack;
    });
    auto consuming = on.consume(topic, handler, consumer_options{.prefetch = 3});
    const opens_at_exit opener(hold);
    hold.arrivals().wait(3, "calls");
    EXPECT_LE(consuming.stats(queue_of(topic)).unsettled, 3U);
    EXPECT_LE(on.broker().depth(queue_of(topic)).in_flight, 3U);
    EXPECT_EQ(on.broker().depth(queue_of(topic)).ready, 17U);
    hold.open();
    handler.wait(20);
    on.wait_empty(queue_of(topic));
}

void consumers_multiply(stage& on) {
    on.options().worker_threads = 8;
    const auto topic = on.topic();
    fill(on, topic, 6);
    const meeting all(6);
    const counter met;
    const probe handler([=](const seen&, const delivery&) {
        if (all.join()) met.add();
        return ack;
    });
    auto consuming = on.consume(topic, handler, consumer_options{.consumers = 3, .prefetch = 2});
    met.wait(6, "handlers of three consumers that met");
    on.wait_empty(queue_of(topic));
}

void slow_call_does_not_hold_others(stage& on) {
    const auto topic = on.topic();
    fill(on, topic, 50);
    const gate hold;
    const probe handler([hold](const seen& call, const delivery&) {
        if (call.payload == numbered_body(0)) hold.arrive();
        return ack;
    });
    auto consuming = on.consume(topic, handler, consumer_options{.prefetch = 4});
    const opens_at_exit opener(hold);
    handler.wait(50, "messages beside a slow one");
    hold.open();
    on.wait_empty(queue_of(topic));
}

void groups_share(stage& on) {
    on.options().worker_threads = 8;
    const auto topic = on.topic();
    fill(on, topic, 200);
    const meeting all(4);
    const auto handler_of = [&all] {
        const counter first;
        return probe([=](const seen&, const delivery&) {
            if (first.add() == 1) all.join();
            return ack;
        });
    };
    std::vector<probe> handlers;
    std::vector<std::unique_ptr<running>> groups;
    for (int i = 0; i < 4; ++i) {
        handlers.push_back(handler_of());
        groups.push_back(std::make_unique<running>(
            on.group().add(topic, handlers.back(), consumer_options{.prefetch = 5}.sequential())));
    }
    eventually("all handled", [&] {
        std::size_t sum = 0;
        for (const auto& each : handlers)
            sum += each.size();
        return sum >= 200;
    });
    on.wait_empty(queue_of(topic));
    std::vector<std::string> bodies;
    for (const auto& each : handlers) {
        EXPECT_GE(each.size(), 1U) << "a group got nothing while messages waited";
        std::ranges::move(payloads(each.all()), std::back_inserter(bodies));
    }
    std::ranges::sort(bodies);
    EXPECT_EQ(std::ranges::adjacent_find(bodies), bodies.end()) << "handled by two groups";
    EXPECT_EQ(bodies.size(), 200U);
}

void flood_does_not_starve(stage& on) {
    const auto flooded = on.topic();
    const auto quiet = on.topic();
    fill(on, flooded, 500);
    const counter of_flood;
    const probe busy([of_flood](const seen&, const delivery&) {
        until(std::chrono::steady_clock::now() + 200us);
        of_flood.add();
        return ack;
    });
    const recorder<std::size_t> flood_when_quiet_came;
    const probe other([=](const seen&, const delivery&) {
        flood_when_quiet_came.add(of_flood.value());
        return ack;
    });
    auto consuming = running(on.group().add(flooded, busy).add(quiet, other));
    of_flood.wait(50, "the flood");
    on.publisher().publish(quiet, a_body);
    EXPECT_LT(flood_when_quiet_came.wait(1, "the quiet topic's message").front(), 500U)
        << "it had to wait for the whole flood";
    of_flood.wait(500, "the flood's end");
}

double cpu_seconds() {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void idle_costs_little(stage& on) {
    const auto topic = on.topic([](auto t) { return t.dlq(); });
    const probe handler;
    auto consuming = on.consume(topic, handler, consumer_options{.consumers = 4});
    auto burying = on.consume_dead(topic, handler);
    on.publisher().publish(topic, "warm-up");
    handler.wait(1);
    on.wait_empty(queue_of(topic));
    const auto before = cpu_seconds();
    until(std::chrono::steady_clock::now() + 1s);
    const auto used = cpu_seconds() - before;
    EXPECT_LT(used, 0.05) << "seconds of CPU in an idle second";
}

/// A handler that always answers retry, with a hold: calls and CPU are bounded (G3).
void hopeless_message_is_calm(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(200ms); });
    on.publisher().publish(topic, "SECRET-hopeless");
    const probe handler(retry);
    auto consuming = on.consume(topic, handler);
    handler.wait(1);
    const auto before = cpu_seconds();
    until(std::chrono::steady_clock::now() + 1s);
    EXPECT_LE(handler.size(), 6U);
    EXPECT_GE(handler.size(), 3U);
    EXPECT_LT(cpu_seconds() - before, 0.05) << "seconds of CPU in a second";
}

}  // namespace

void add_concurrency_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"concurrency", "prefetch_handlers_meet", &prefetch_handlers_meet},
                            {"concurrency", "sequential_in_order", &sequential_in_order},
                            {"concurrency", "prefetch_bounds_unsettled", &prefetch_bounds_unsettled},
                            {"concurrency", "consumers_multiply", &consumers_multiply},
                            {"concurrency", "slow_call_does_not_hold_others", &slow_call_does_not_hold_others},
                            {"concurrency", "groups_share", &groups_share},
                            {"concurrency", "flood_does_not_starve", &flood_does_not_starve},
                            {"concurrency", "idle_costs_little", &idle_costs_little},
                            {"concurrency", "hopeless_message_is_calm", &hopeless_message_is_calm},
                        });
}

}  // namespace shove::testkit
