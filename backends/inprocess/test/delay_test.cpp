#include "driver_fixture.hpp"

// Messages that wait for their time: on one timer, in order, never early.
namespace {

using namespace inprocess_test;

class delayed : public driver_fixture {};

TEST_F(delayed, a_delayed_publish_comes_when_it_is_due) {
    put({"late"}, 10s);
    put({"now"});
    auto sub = subscribe();
    EXPECT_EQ(bodies_of(get(*sub)), bodies{"now"});
    box<received> got;
    sub->receive(10, got.sink());
    clock->advance(10s - 1ms);
    EXPECT_FALSE(got.ready());
    clock->advance(1ms);
    ASSERT_TRUE(got.ready());
    EXPECT_EQ(bodies_of(got.value().value()), bodies{"late"});
    EXPECT_EQ(got.value()->front().deliveries, 1u);
    EXPECT_FALSE(got.value()->front().redelivered);
}

TEST_F(delayed, messages_return_by_due_time_then_by_arrival) {
    put({"c"}, 3s);
    put({"a1", "a2", "a3"}, 1s);
    put({"b"}, 2s);
    clock->advance(3s);
    EXPECT_EQ(bodies_of(get(*subscribe())), (bodies{"a1", "a2", "a3", "b", "c"}));
}

TEST_F(delayed, retried_messages_come_behind_what_was_ready) {
    put({"a", "b", "c"});
    auto sub = subscribe();
    settle(*sub, get(*sub, 1), delay_it, 1s);
    clock->advance(1s);
    EXPECT_EQ(bodies_of(get(*sub)), (bodies{"b", "c", "a"}));
}

TEST_F(delayed, a_retry_without_delay_goes_to_the_end_at_once) {
    put({"a", "b"});
    auto sub = subscribe();
    settle(*sub, get(*sub, 1), delay_it, 0ms);
    EXPECT_EQ(bodies_of(get(*sub)), (bodies{"b", "a"}));
    EXPECT_EQ(clock->pending(), 0u);
}

TEST_F(delayed, one_timer_serves_all_delays_of_a_queue) {
    for (int i = 100; i > 0; --i)
        put({"x"}, std::chrono::seconds(i));
    EXPECT_EQ(clock->pending(), 1u);
    for (int i = 1; i <= 100; ++i) {
        ASSERT_TRUE(clock->advance_to_next());
        ASSERT_EQ(depth().ready, static_cast<std::uint64_t>(i));
    }
    EXPECT_EQ(clock->pending(), 0u);
}

TEST_F(delayed, close_moments_share_a_ring) {
    for (int i = 0; i < 1000; ++i) {
        put({"x"}, 1s);
        clock->advance(10us);
    }
    int rings = 0;
    while (clock->advance_to_next())
        ++rings;
    EXPECT_EQ(depth().ready, 1000u);
    EXPECT_LE(rings, 12);
}

TEST_F(delayed, thousands_due_at_one_moment_all_come) {
    put(bodies(5'000, "x"), 1s);
    clock->advance(1s);
    EXPECT_EQ(depth().ready, 5'000u);
    EXPECT_EQ(depth().delayed, 0u);
}

TEST_F(delayed, a_retry_keeps_its_place_in_a_full_queue) {
    reopen({.capacity = 1});
    put({"a"});
    auto sub = subscribe();
    settle(*sub, get(*sub), delay_it, 1s);
    box<spi::publish_report> done;
    put_waiting({"b"}, shove::steady_time::max(), done);
    EXPECT_FALSE(done.ready());
    clock->advance(1s);
    settle(*sub, get(*sub), complete);
    EXPECT_TRUE(done.ready());
}

TEST_F(delayed, an_endless_delay_is_cut_to_the_longest_one) {
    put({"a"}, milliseconds::max());
    EXPECT_EQ(depth().delayed, 1u);
    clock->advance(shove::inprocess::capabilities.max_delay);
    EXPECT_EQ(depth().ready, 1u);
}

TEST_F(delayed, a_negative_delay_is_none) {
    put({"a"}, -5s);
    EXPECT_EQ(depth().ready, 1u);
}

TEST_F(delayed, a_timer_outlives_its_driver_unharmed) {
    put({"a"}, 1s);
    auto sub = subscribe();
    driver.reset();
    sub.reset();
    EXPECT_EQ(clock->pending(), 0u);
    clock->advance(1h);
}

TEST_F(delayed, a_ring_may_end_the_driver) {
    put({"a"}, 1s);
    auto sub = subscribe();
    sub->receive(1, [&](received) {
        sub.reset();
        driver.reset();
    });
    clock->advance(1h);
    EXPECT_EQ(driver, nullptr);
}

TEST_F(delayed, close_stops_the_timer) {
    put({"a"}, 1s);
    close();
    EXPECT_EQ(clock->pending(), 0u);
}

}  // namespace
