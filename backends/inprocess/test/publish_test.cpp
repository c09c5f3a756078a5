#include "driver_fixture.hpp"

// What a publish gets to know, and when: room, deadlines, order, errors.
namespace {

using namespace inprocess_test;
using enum spi::publish_status;
using testing::ElementsAre;
using testing::HasSubstr;

class publish : public driver_fixture {
protected:
    publish() : driver_fixture({.capacity = 2}) {}
};

TEST_F(publish, stores_in_order) {
    put({"a"});
    put({"b"});
    EXPECT_EQ(bodies_of(get(*subscribe())), (bodies{"a", "b"}));
}

TEST_F(publish, an_empty_batch_is_stored) {
    put({});
    put({"a", "b"});
    put({});
}

TEST_F(publish, of_a_full_queue_with_a_past_deadline_fails_at_once) {
    box<spi::publish_report> done;
    put_waiting({"a", "b", "c", "d", "e"}, clock->now(), done);
    ASSERT_TRUE(done.ready());
    EXPECT_THAT(statuses(done.value()), ElementsAre(ok, ok, failed, not_attempted, not_attempted));
    EXPECT_EQ(done.value().each[2].cause, errc::queue_full);
    EXPECT_THAT(done.value().each[2].cause.message(), HasSubstr("'jobs' is full (capacity 2 messages)"));
    EXPECT_EQ(done.value().each[3].cause, errc::not_attempted);
    EXPECT_EQ(clock->pending(), 0u);
}

TEST_F(publish, waits_for_room_until_its_deadline) {
    put({"a", "b"});
    box<spi::publish_report> done;
    put_waiting({"c", "d"}, clock->now() + 5s, done);
    EXPECT_FALSE(done.ready());
    clock->advance(5s - 1ms);
    EXPECT_FALSE(done.ready());
    clock->advance(1ms);
    ASSERT_TRUE(done.ready());
    EXPECT_THAT(statuses(done.value()), ElementsAre(failed, not_attempted));
    EXPECT_EQ(done.value().each[0].cause, errc::queue_full);
    EXPECT_EQ(depth().ready, 2u);
}

TEST_F(publish, goes_on_as_room_appears) {
    put({"a", "b"});
    box<spi::publish_report> done;
    put_waiting({"c", "d", "e"}, clock->now() + 5s, done);
    auto sub = subscribe();
    settle(*sub, get(*sub, 1), complete);
    EXPECT_FALSE(done.ready());
    settle(*sub, get(*sub, 2), complete);
    ASSERT_TRUE(done.ready());
    EXPECT_TRUE(done.value().each.empty());
    EXPECT_EQ(bodies_of(get(*sub)), (bodies{"d", "e"}));
}

TEST_F(publish, keeps_what_was_stored_before_the_deadline) {
    put({"a", "b"});
    box<spi::publish_report> done;
    put_waiting({"c", "d", "e"}, clock->now() + 5s, done);
    auto sub = subscribe();
    settle(*sub, get(*sub, 1), complete);
    clock->advance(5s);
    ASSERT_TRUE(done.ready());
    EXPECT_THAT(statuses(done.value()), ElementsAre(ok, failed, not_attempted));
    EXPECT_EQ(bodies_of(get(*sub)), (bodies{"b", "c"}));
}

TEST_F(publish, waiters_are_served_first_come_first_served) {
    put({"a", "b"});
    box<spi::publish_report> first, second, third;
    put_waiting({"c", "d"}, shove::steady_time::max(), first);
    put_waiting({"e"}, clock->now() + 1h, second);
    put_waiting({"f"}, clock->now(), third);
    ASSERT_TRUE(third.ready());
    EXPECT_THAT(statuses(third.value()), ElementsAre(failed));
    auto sub = subscribe();
    settle(*sub, get(*sub, 1), complete);
    EXPECT_FALSE(first.ready());
    settle(*sub, get(*sub, 1), complete);
    EXPECT_TRUE(first.ready());
    EXPECT_FALSE(second.ready());
    settle(*sub, get(*sub, 2), complete);
    EXPECT_TRUE(second.ready());
    EXPECT_EQ(bodies_of(get(*sub)), bodies{"e"});
}

TEST_F(publish, a_waiter_that_gives_up_lets_the_next_one_through) {
    reopen({.capacity = 10, .max_bytes = 10});
    put({"123456"});
    box<spi::publish_report> large, small;
    put_waiting({"abcdefg"}, clock->now() + 1s, large);
    put_waiting({"xyz"}, clock->now() + 5s, small);
    EXPECT_FALSE(small.ready());
    clock->advance(1s);
    EXPECT_THAT(statuses(large.value()), ElementsAre(failed));
    ASSERT_TRUE(small.ready());
    EXPECT_TRUE(small.value().each.empty());
}

TEST_F(publish, counts_in_flight_and_delayed_messages_as_taking_room) {
    put({"a"});
    put({"b"}, 1h);
    auto sub = subscribe();
    auto held = get(*sub);
    box<spi::publish_report> done;
    put_waiting({"c"}, clock->now(), done);
    EXPECT_THAT(statuses(done.value()), ElementsAre(failed));
    settle(*sub, std::move(held), complete);
    put({"c"});
}

TEST_F(publish, of_a_message_larger_than_max_bytes_fails) {
    reopen({.capacity = 10, .max_bytes = 4});
    box<spi::publish_report> done;
    put_waiting({"12345", "1"}, shove::steady_time::max(), done);
    ASSERT_TRUE(done.ready());
    EXPECT_THAT(statuses(done.value()), ElementsAre(failed, not_attempted));
    EXPECT_EQ(done.value().each[0].cause, errc::too_large);
}

TEST_F(publish, max_bytes_are_given_back_by_each_kind_of_end) {
    reopen({.capacity = 10, .max_bytes = 8});
    auto sub = subscribe();
    for (int i = 0; i < 5; ++i) {
        put({"1234", "5678"});
        auto batch = get(*sub);
        std::vector<spi::delivery> second;
        second.push_back(std::move(batch.back()));
        batch.pop_back();
        settle(*sub, std::move(batch), complete);
        settle(*sub, std::move(second), dead_letter);
        auto dlq = subscribe(10, true);
        settle(*dlq, get(*dlq), complete);
    }
    EXPECT_EQ(depth().ready + depth().in_flight + depth("jobs-dlq").ready, 0u);
}

TEST_F(publish, to_an_undeclared_queue_fails_and_says_what_to_do) {
    const auto other = make(shove::topology("other"));
    box<spi::publish_report> done;
    driver->publish(*other, request({"a", "b"}), done.sink());
    EXPECT_THAT(statuses(done.value()), ElementsAre(failed, not_attempted));
    EXPECT_EQ(done.value().each[0].cause, errc::unknown_queue);
    EXPECT_THAT(done.value().each[0].cause.message(), HasSubstr("'other' was never declared"));
    EXPECT_THAT(done.value().each[0].cause.message(), HasSubstr("declare its topology"));
}

TEST_F(publish, of_an_empty_handle_fails) {
    spi::publish_request made;
    made.messages.push_back({text("a"), 0ms});
    made.messages.push_back({});
    box<spi::publish_report> done;
    driver->publish(*topology, std::move(made), done.sink());
    EXPECT_THAT(statuses(done.value()), ElementsAre(ok, failed));
    EXPECT_EQ(done.value().each[1].cause, errc::invalid_argument);
    EXPECT_EQ(depth().ready, 1u);
}

TEST_F(publish, waiting_ends_with_closed_when_the_driver_closes) {
    put({"a", "b"});
    box<spi::publish_report> done, late;
    put_waiting({"c", "d"}, clock->now() + 5s, done);
    close();
    ASSERT_TRUE(done.ready());
    EXPECT_THAT(statuses(done.value()), ElementsAre(failed, not_attempted));
    EXPECT_EQ(done.value().each[0].cause, errc::closed);
    put_waiting({"e"}, clock->now() + 5s, late);
    EXPECT_EQ(late.value().each[0].cause, errc::closed);
    EXPECT_EQ(clock->pending(), 0u);
}

TEST_F(publish, waiting_ends_when_the_driver_goes) {
    put({"a", "b"});
    box<spi::publish_report> done;
    put_waiting({"c"}, shove::steady_time::max(), done);
    driver.reset();
    ASSERT_TRUE(done.ready());
    EXPECT_EQ(done.value().each[0].cause, errc::closed);
}

TEST_F(publish, deadlines_share_one_timer) {
    put({"a", "b"});
    std::vector<box<spi::publish_report>> waiting(20);
    for (std::size_t i = 0; i < waiting.size(); ++i) {
        put_waiting({"x"}, clock->now() + std::chrono::seconds(100 - i), waiting[i]);
    }
    EXPECT_EQ(clock->pending(), 1u);
    clock->advance(90s);
    for (std::size_t i = 0; i < waiting.size(); ++i)
        EXPECT_EQ(waiting[i].ready(), i >= 10) << i;
    clock->advance(10s);
    for (auto& w : waiting)
        EXPECT_EQ(w.calls(), 1);
    EXPECT_EQ(clock->pending(), 0u);
}

}  // namespace
