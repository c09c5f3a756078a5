#include "driver_fixture.hpp"

#include <set>

// Who gets which message, how often, and what a settlement does to its queue.
namespace {

using namespace inprocess_test;

class deliver : public driver_fixture {};

TEST_F(deliver, gives_what_is_there_at_once) {
    put({"a", "b", "c"});
    auto sub = subscribe();
    EXPECT_EQ(bodies_of(get(*sub, 2)), (bodies{"a", "b"}));
    EXPECT_EQ(bodies_of(get(*sub, 2)), bodies{"c"});
    EXPECT_EQ(depth().in_flight, 3u);
}

TEST_F(deliver, waits_and_is_served_by_the_next_publish) {
    auto sub = subscribe();
    box<received> got;
    sub->receive(10, got.sink());
    EXPECT_FALSE(got.ready());
    put({"a", "b"});
    ASSERT_TRUE(got.ready());
    EXPECT_EQ(bodies_of(got.value().value()), (bodies{"a", "b"}));
    put({"c"});
    EXPECT_EQ(got.calls(), 1);
}

TEST_F(deliver, takes_turns_between_waiting_receivers) {
    auto one = subscribe(), two = subscribe();
    std::vector<std::string> order;
    std::function<void(spi::subscription&, std::string)> again = [&](spi::subscription& sub, std::string name) {
        sub.receive(10, [&, name](received got) {
            if (!got) return;
            order.push_back(name + body_of(got->front().msg));
            again(sub, name);
        });
    };
    again(*one, "1");
    again(*two, "2");
    for (const auto* text : {"a", "b", "c", "d"})
        put({text});
    EXPECT_EQ(order, (std::vector<std::string>{"1a", "2b", "1c", "2d"}));
    one->cancel_receive();
    two->cancel_receive();
}

TEST_F(deliver, shares_a_batch_between_waiting_receivers) {
    std::vector<std::shared_ptr<spi::subscription>> subs;
    std::vector<box<received>> got(4);
    for (auto& box : got)
        subs.emplace_back(subscribe())->receive(10, box.sink());
    put({"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"});
    std::vector<std::size_t> sizes;
    for (auto& box : got)
        sizes.push_back(box.value()->size());
    EXPECT_EQ(sizes, (std::vector<std::size_t>{3, 3, 2, 2}));
}

TEST_F(deliver, shares_a_short_queue_with_idle_receivers) {
    put({"a", "b", "c", "d", "e", "f"});
    auto one = subscribe(), two = subscribe(), three = subscribe();
    EXPECT_EQ(get(*one).size(), 2u);
    EXPECT_EQ(get(*two).size(), 2u);
    EXPECT_EQ(get(*three).size(), 2u);
}

TEST_F(deliver, never_more_than_the_prefetch_unsettled) {
    put({"a", "b", "c", "d", "e"});
    auto sub = subscribe(3);
    auto held = get(*sub);
    EXPECT_EQ(held.size(), 3u);
    box<received> got;
    sub->receive(10, got.sink());
    EXPECT_FALSE(got.ready());
    std::vector<spi::delivery> first;
    first.push_back(std::move(held.front()));
    settle(*sub, std::move(first), complete);
    ASSERT_TRUE(got.ready());
    EXPECT_EQ(bodies_of(got.value().value()), bodies{"d"});
}

TEST_F(deliver, a_receiver_without_room_does_not_hold_up_the_others) {
    put({"a"});
    auto full = subscribe(1), other = subscribe(1);
    auto held = get(*full);
    box<received> stalled, got;
    full->receive(10, stalled.sink());
    other->receive(10, got.sink());
    put({"b"});
    EXPECT_FALSE(stalled.ready());
    EXPECT_TRUE(got.ready());
    settle(*full, std::move(held), complete);
    put({"c"});
    EXPECT_TRUE(stalled.ready());
}

TEST_F(deliver, cancel_ends_a_waiting_receive_only) {
    auto sub = subscribe();
    sub->cancel_receive();
    box<received> got, again;
    sub->receive(10, got.sink());
    sub->cancel_receive();
    ASSERT_TRUE(got.ready());
    EXPECT_EQ(got.value().error(), errc::cancelled);
    sub->receive(10, again.sink());
    put({"a"});
    EXPECT_EQ(bodies_of(again.value().value()), bodies{"a"});
    EXPECT_EQ(got.calls(), 1);
}

TEST_F(deliver, cancel_ends_a_receive_that_waits_for_prefetch) {
    put({"a", "b"});
    auto sub = subscribe(1);
    auto held = get(*sub);
    box<received> got;
    sub->receive(10, got.sink());
    sub->cancel_receive();
    EXPECT_EQ(got.value().error(), errc::cancelled);
    settle(*sub, std::move(held), complete);
    EXPECT_EQ(depth().ready, 1u);
}

TEST_F(deliver, close_of_a_subscription_ends_its_receive_and_keeps_its_deliveries) {
    put({"a"});
    auto sub = subscribe();
    auto held = get(*sub);
    box<received> got, late;
    box<error> closed;
    sub->receive(10, got.sink());
    sub->close(closed.sink());
    EXPECT_FALSE(closed.value());
    EXPECT_EQ(got.value().error(), errc::closed);
    sub->receive(10, late.sink());
    EXPECT_EQ(late.value().error(), errc::closed);
    EXPECT_EQ(depth().in_flight, 1u);
    settle(*sub, std::move(held), release);
    EXPECT_EQ(depth().ready, 1u);
    EXPECT_EQ(bodies_of(get(*subscribe())), bodies{"a"});
}

TEST_F(deliver, a_subscription_that_goes_without_close_ends_its_receive) {
    box<received> got;
    auto sub = subscribe();
    sub->receive(10, got.sink());
    sub.reset();
    EXPECT_EQ(got.value().error(), errc::closed);
    put({"a"});
    EXPECT_EQ(depth().ready, 1u);
}

TEST_F(deliver, close_of_the_driver_ends_receives_and_refuses_later_calls) {
    put({"a", "b"});
    auto sub = subscribe(1), idle = subscribe();
    auto held = get(*sub, 1);
    box<received> stalled, waiting, late;
    sub->receive(10, stalled.sink());
    auto rest = get(*idle);
    idle->receive(10, waiting.sink());
    close();
    close();
    EXPECT_EQ(stalled.value().error(), errc::closed);
    EXPECT_EQ(waiting.value().error(), errc::closed);
    sub->receive(1, late.sink());
    EXPECT_EQ(late.value().error(), errc::closed);
    box<std::vector<spi::failed_settlement>> failures;
    sub->settle(decide_all(std::move(held), complete), failures.sink());
    ASSERT_EQ(failures.value().size(), 1u);
    EXPECT_EQ(failures.value()[0].cause, errc::closed);
    EXPECT_EQ(body_of(failures.value()[0].what.item.msg), "a");
}

TEST_F(deliver, receives_are_one_at_a_time_and_of_at_least_one) {
    auto sub = subscribe();
    box<received> first, second, none;
    sub->receive(1, first.sink());
    sub->receive(1, second.sink());
    EXPECT_EQ(second.value().error(), errc::invalid_argument);
    sub->cancel_receive();
    sub->receive(0, none.sink());
    EXPECT_EQ(none.value().error(), errc::invalid_argument);
}

TEST_F(deliver, release_puts_messages_back_in_their_old_places) {
    put({"a", "b", "c", "d", "e"});
    auto sub = subscribe();
    auto held = get(*sub, 4);
    std::vector<spi::delivery> some;
    for (std::size_t i : {2u, 0u})
        some.push_back(std::move(held[i]));
    settle(*sub, std::move(some), release);
    EXPECT_EQ(bodies_of(get(*sub, 1)), bodies{"a"});
    std::vector<spi::delivery> other;
    other.push_back(std::move(held[1]));
    settle(*sub, std::move(other), release);
    EXPECT_EQ(bodies_of(get(*sub)), (bodies{"b", "c", "e"}));
}

TEST_F(deliver, counts_hand_outs_but_not_released_ones) {
    put({"a"});
    auto sub = subscribe();
    auto first = get(*sub);
    EXPECT_EQ(first[0].deliveries, 1u);
    EXPECT_FALSE(first[0].redelivered);
    EXPECT_EQ(first[0].past, nullptr);
    settle(*sub, std::move(first), release);
    auto second = get(*sub);
    EXPECT_EQ(second[0].deliveries, 1u);
    EXPECT_FALSE(second[0].redelivered);
    settle(*sub, std::move(second), delay_it);
    auto third = get(*sub);
    EXPECT_EQ(third[0].deliveries, 2u);
    EXPECT_TRUE(third[0].redelivered);
    settle(*sub, std::move(third), release);
    auto fourth = get(*sub);
    EXPECT_EQ(fourth[0].deliveries, 2u);
    EXPECT_TRUE(fourth[0].redelivered);
}

TEST_F(deliver, carries_the_history_through_untouched) {
    put({"a"});
    auto sub = subscribe();
    auto batch = get(*sub);
    batch[0].past = std::make_unique<spi::history>();
    batch[0].past->retries = 3;
    batch[0].past->last_error = "no";
    const auto* where = batch[0].past.get();
    settle(*sub, std::move(batch), delay_it, 1s);
    clock->advance(1s);
    auto again = get(*sub);
    EXPECT_EQ(again[0].past.get(), where);
    settle(*sub, std::move(again), release);
    auto third = get(*sub);
    ASSERT_EQ(third[0].past.get(), where);
    EXPECT_EQ(third[0].past->retries, 3u);
}

TEST_F(deliver, tags_are_unique_over_queues_and_returns) {
    const auto other = make(shove::topology("other"));
    declare(other);
    std::set<std::uint64_t> tags;
    std::size_t count = 0;
    auto sub = subscribe();
    box<shove::result<std::shared_ptr<spi::subscription>>> second;
    driver->subscribe({other, false, 100, ""}, second.sink());
    put({"a", "b", "c"});
    driver->publish(*other, request({"a", "b", "c"}), [](spi::publish_report) {});
    for (int round = 0; round < 10; ++round) {
        for (auto* s : {sub.get(), second.value()->get()}) {
            auto batch = get(*s);
            for (const auto& d : batch)
                tags.insert(d.tag);
            count += batch.size();
            settle(*s, std::move(batch), release);
        }
    }
    EXPECT_EQ(count, 60u);
    EXPECT_EQ(tags.size(), 60u);
}

TEST_F(deliver, a_settlement_of_an_empty_delivery_is_refused) {
    put({"a"});
    auto sub = subscribe();
    auto batch = get(*sub);
    batch[0].msg = {};
    box<std::vector<spi::failed_settlement>> done;
    sub->settle(decide_all(std::move(batch), release), done.sink());
    ASSERT_EQ(done.value().size(), 1u);
    EXPECT_EQ(done.value()[0].cause, errc::invalid_argument);
}

TEST_F(deliver, settling_more_than_was_received_is_refused) {
    put({"a", "b"});
    auto sub = subscribe(), other = subscribe();
    auto held = get(*sub, 1);
    held.push_back({});
    box<std::vector<spi::failed_settlement>> done;
    sub->settle(decide_all(std::move(held), complete), done.sink());
    ASSERT_EQ(done.value().size(), 2u);
    EXPECT_EQ(done.value()[0].cause, errc::lease_lost);
    EXPECT_EQ(depth().in_flight, 1u);
    std::vector<spi::delivery> back;
    back.push_back(std::move(done.value()[0].what.item));
    settle(*sub, std::move(back), complete);
    EXPECT_EQ(depth().in_flight, 0u);
}

TEST_F(deliver, a_callback_may_end_everything) {
    auto sub = subscribe();
    bool called = false;
    sub->receive(1, [&](received) {
        called = true;
        sub.reset();
        driver.reset();
    });
    auto keep = driver;
    keep->publish(*topology, request({"a", "b"}), [&](spi::publish_report) { keep.reset(); });
    EXPECT_TRUE(called);
}

TEST_F(deliver, depth_is_right_at_every_step) {
    const auto counts = [this] {
        const auto d = depth();
        return std::vector<std::uint64_t>{d.ready, d.in_flight, d.delayed};
    };
    using list = std::vector<std::uint64_t>;
    EXPECT_EQ(counts(), (list{0, 0, 0}));
    put({"a", "b", "c"});
    put({"d"}, 1min);
    EXPECT_EQ(counts(), (list{3, 0, 1}));
    auto sub = subscribe();
    auto one = get(*sub, 1), two = get(*sub, 1), three = get(*sub, 1);
    EXPECT_EQ(counts(), (list{0, 3, 1}));
    settle(*sub, std::move(one), delay_it, 1min);
    EXPECT_EQ(counts(), (list{0, 2, 2}));
    settle(*sub, std::move(two), release);
    EXPECT_EQ(counts(), (list{1, 1, 2}));
    settle(*sub, std::move(three), dead_letter);
    EXPECT_EQ(counts(), (list{1, 0, 2}));
    EXPECT_EQ(depth("jobs-dlq").ready, 1u);
    clock->advance(1min);
    EXPECT_EQ(counts(), (list{3, 0, 0}));
}

TEST_F(deliver, depth_gives_the_age_of_the_first_ready_message) {
    EXPECT_EQ(depth().oldest_age, std::nullopt);
    shove::message_parts parts;
    parts.published_at = clock->wall();
    spi::publish_request made;
    made.messages.push_back({shove::message::make(parts), 0ms});
    driver->publish(*topology, std::move(made), [](spi::publish_report) {});
    clock->advance(90s);
    EXPECT_EQ(depth().oldest_age, milliseconds(90'000));
    clock->step_wall(-1h);
    EXPECT_EQ(depth().oldest_age, milliseconds(0));
    auto sub = subscribe();
    auto held = get(*sub);
    EXPECT_EQ(depth().oldest_age, std::nullopt);
}

}  // namespace
