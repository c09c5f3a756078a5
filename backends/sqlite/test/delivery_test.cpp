// What happens to a message on its normal ways: published, received, settled.

#include "support.hpp"

#include <array>

namespace shove::sqlite_test {

namespace {

using kind = spi::settlement_kind;

struct delivery_test : testing::Test {
    scratch_folder folder;
    topology_ptr orders = plain_topology();
};

TEST_F(delivery_test, a_published_message_arrives_with_all_its_parts) {
    client c(folder.file());
    c.declare(orders);
    const std::string foreign("\x00\xff\x7fz", 4);
    headers sent;
    sent.add("text", "grüße").add("number", std::int64_t{-9'007'199'254'740'993}).add("half", 0.5).add("yes", true);
    sent.add("text", "again").add("raw", std::as_bytes(std::span(foreign))).add("amqp", header_value::foreign(foreign));
    message_parts parts;
    parts.id = "order-1";
    const std::string key("k\0y", 3);
    parts.key = key;
    parts.content_type = "application/json";
    parts.type = "order_paid";
    const std::string body = "{\"a\":1}";
    parts.payload = std::as_bytes(std::span(body));
    parts.headers = sent.view();
    parts.published_at = wall_time(1'700'000'000'123'456us);
    parts.expires_at = wall_time(1'800'000'000'000'001us);
    c.publish_message(orders, message::make(parts));

    auto sub = c.subscribe(orders);
    auto got = receive(*sub);
    ASSERT_EQ(got.size(), 1u);
    const auto& m = got[0].msg;
    EXPECT_EQ(m.id(), "order-1");
    EXPECT_EQ(m.key(), key);
    EXPECT_EQ(m.content_type(), "application/json");
    EXPECT_EQ(m.type(), "order_paid");
    EXPECT_EQ(body_of(m), body);
    EXPECT_EQ(m.headers().encoded(), sent.view().encoded());
    EXPECT_EQ(m.published_at(), parts.published_at);
    EXPECT_EQ(m.expires_at(), parts.expires_at);
    EXPECT_EQ(got[0].deliveries, 1u);
    EXPECT_FALSE(got[0].redelivered);
    EXPECT_EQ(got[0].past, nullptr);
}

TEST_F(delivery_test, a_bare_message_arrives_bare) {
    client c(folder.file());
    c.declare(orders);
    c.publish_message(orders, message::make({}));
    auto sub = c.subscribe(orders);
    auto got = receive(*sub);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].msg.id(), "");
    EXPECT_FALSE(got[0].msg.key().has_value());
    EXPECT_TRUE(got[0].msg.headers().empty());
    EXPECT_TRUE(got[0].msg.payload().empty());
    EXPECT_EQ(got[0].msg.published_at(), wall_time{});
    EXPECT_TRUE(settle(*sub, std::move(got), kind::complete).empty());
}

TEST_F(delivery_test, an_empty_key_is_not_the_same_as_no_key) {
    client c(folder.file());
    c.declare(orders);
    message_parts parts;
    parts.key = "";
    c.publish_message(orders, message::make(parts));
    auto sub = c.subscribe(orders);
    const auto got = receive(*sub);
    ASSERT_TRUE(got[0].msg.key().has_value());
    EXPECT_EQ(*got[0].msg.key(), "");
}

TEST_F(delivery_test, a_large_payload_of_every_byte_survives_retries_death_and_replay) {
    client c(folder.file());
    c.declare(orders);
    std::string body(900'000, '\0');
    for (std::size_t i = 0; i < body.size(); ++i)
        body[i] = static_cast<char>(i * 31 + i / 256);
    c.publish(orders, {body});
    auto sub = c.subscribe(orders);
    for (int i = 0; i < 3; ++i) {
        auto got = receive(*sub);
        ASSERT_EQ(body_of(got[0]), body);
        EXPECT_TRUE(settle(*sub, std::move(got), kind::delay).empty());
    }
    EXPECT_TRUE(settle(*sub, receive(*sub), kind::dead_letter).empty());
    const auto page = c.browse("orders-dlq", 0, 10);
    ASSERT_EQ(page.size(), 1u);
    EXPECT_EQ(body_of(page[0].msg), body);
    std::vector<spi::moved> replay;
    replay.push_back({page[0].cursor, page[0].msg});
    EXPECT_EQ(c.move("orders-dlq", "orders", std::move(replay)), 1u);
    EXPECT_EQ(body_of(receive(*sub)[0]), body);
}

TEST_F(delivery_test, completed_messages_leave_nothing_behind) {
    client c(folder.file());
    c.declare(orders);
    c.publish(orders, {"a", "b", "c"});
    auto sub = c.subscribe(orders);
    auto got = receive(*sub);
    ASSERT_EQ(got.size(), 3u);
    auto depth = c.depth("orders");
    EXPECT_EQ(depth.in_flight, 3u);
    EXPECT_EQ(depth.ready, 0u);
    EXPECT_TRUE(settle(*sub, std::move(got), kind::complete).empty());
    depth = c.depth("orders");
    EXPECT_EQ(depth.ready + depth.in_flight + depth.delayed, 0u);
    EXPECT_TRUE(c.browse("orders", 0, 10).empty());
}

TEST_F(delivery_test, a_delay_keeps_the_history_and_waits_for_its_time) {
    auto time = std::make_shared<manual_clock>();
    client c(folder.file(), time);
    c.declare(orders);
    c.publish(orders, {"a"});
    auto sub = c.subscribe(orders);
    auto got = receive(*sub);
    auto past = std::make_unique<spi::history>();
    past->retries = 3;
    past->crashes = 1;
    past->first_error = "first";
    past->last_error = "läst";
    past->first_failed_at = wall_time(11us);
    past->last_failed_at = wall_time(12us);
    got[0].past = std::move(past);
    EXPECT_TRUE(settle(*sub, std::move(got), kind::delay, 5s).empty());
    EXPECT_EQ(c.depth("orders").delayed, 1u);

    outcome_of<result<deliveries>> waiting;
    sub->receive(10, waiting.callback());
    time->advance(4s);
    EXPECT_FALSE(waiting.within(100ms));
    time->advance(1s);
    auto again = waiting.get().value();
    ASSERT_EQ(again.size(), 1u);
    EXPECT_TRUE(again[0].redelivered);
    EXPECT_EQ(again[0].deliveries, 2u);
    ASSERT_NE(again[0].past, nullptr);
    EXPECT_EQ(again[0].past->retries, 3u);
    EXPECT_EQ(again[0].past->crashes, 1u);
    EXPECT_EQ(again[0].past->first_error, "first");
    EXPECT_EQ(again[0].past->last_error, "läst");
    EXPECT_EQ(again[0].past->first_failed_at, wall_time(11us));
    EXPECT_EQ(again[0].past->last_failed_at, wall_time(12us));
}

TEST_F(delivery_test, a_delayed_publish_waits_and_lets_later_ones_pass) {
    auto time = std::make_shared<manual_clock>();
    client c(folder.file(), time);
    c.declare(orders);
    c.publish(orders, {"late"}, 10s);
    c.publish(orders, {"now"});
    auto sub = c.subscribe(orders);
    auto first = receive(*sub);
    ASSERT_EQ(first.size(), 1u);
    EXPECT_EQ(body_of(first[0]), "now");
    EXPECT_EQ(c.depth("orders").delayed, 1u);
    outcome_of<result<deliveries>> waiting;
    sub->receive(10, waiting.callback());
    time->advance(10s);
    auto late = waiting.get().value();
    EXPECT_EQ(body_of(late[0]), "late");
    EXPECT_FALSE(late[0].redelivered);
    EXPECT_EQ(late[0].deliveries, 1u);
}

TEST_F(delivery_test, due_messages_come_back_in_queue_order) {
    auto time = std::make_shared<manual_clock>();
    client c(folder.file(), time);
    c.declare(orders);
    c.publish(orders, {"a", "b", "c"});
    auto sub = c.subscribe(orders);
    auto got = receive(*sub);
    EXPECT_TRUE(settle(*sub, std::move(got[2]), kind::delay, 1s).empty());
    EXPECT_TRUE(settle(*sub, std::move(got[0]), kind::delay, 3s).empty());
    EXPECT_TRUE(settle(*sub, std::move(got[1]), kind::delay, 2s).empty());
    c.publish(orders, {"d"});
    time->advance(5s);
    const auto all = receive_all(*sub, 4);
    std::string order;
    for (const auto& one : all)
        order += body_of(one);
    EXPECT_EQ(order, "abcd");
}

TEST_F(delivery_test, a_release_costs_nothing_and_goes_back_to_its_place) {
    client c(folder.file());
    c.declare(orders);
    c.publish(orders, {"a", "b", "c"});
    auto sub = c.subscribe(orders);
    auto two = receive(*sub, 2);
    EXPECT_TRUE(settle(*sub, std::move(two), kind::release).empty());
    const auto all = receive_all(*sub, 3);
    std::string order;
    for (const auto& one : all) {
        order += body_of(one);
        EXPECT_EQ(one.deliveries, 1u);
        EXPECT_FALSE(one.redelivered);
    }
    EXPECT_EQ(order, "abc");
}

TEST_F(delivery_test, a_dead_letter_moves_with_its_history) {
    client c(folder.file());
    c.declare(orders);
    c.publish(orders, {"bad"});
    auto sub = c.subscribe(orders);
    auto got = receive(*sub);
    auto past = std::make_unique<spi::history>();
    past->death_reason = "rejected";
    past->original_queue = "orders";
    past->death_count = 2;
    past->dead_at = wall_time(99us);
    past->last_error = "no";
    got[0].past = std::move(past);
    EXPECT_TRUE(settle(*sub, std::move(got), kind::dead_letter).empty());
    EXPECT_EQ(c.depth("orders-dlq").ready, 1u);
    const auto listed = c.queues();
    ASSERT_EQ(listed.size(), 2u);
    EXPECT_EQ(listed[0].dead_letter_queue, "orders-dlq");
    EXPECT_EQ(listed[0].dead, 1u);

    auto dead = c.subscribe(orders, 10, true);
    auto letter = receive(*dead);
    ASSERT_NE(letter[0].past, nullptr);
    EXPECT_EQ(letter[0].past->death_reason, "rejected");
    EXPECT_EQ(letter[0].past->original_queue, "orders");
    EXPECT_EQ(letter[0].past->death_count, 2u);
    EXPECT_EQ(letter[0].past->dead_at, wall_time(99us));
    EXPECT_TRUE(settle(*dead, std::move(letter), kind::complete).empty());
    EXPECT_EQ(c.depth("orders-dlq").ready, 0u);
}

TEST_F(delivery_test, a_dead_letter_queue_that_was_never_declared_is_made) {
    client c(folder.file());
    c.declare(queue_topology::make(topology("orders")).value());
    c.publish(orders, {"bad"});
    auto sub = c.subscribe(orders);
    EXPECT_TRUE(settle(*sub, receive(*sub), kind::dead_letter).empty());
    EXPECT_EQ(c.depth("orders-dlq").ready, 1u);
}

TEST_F(delivery_test, a_shared_dead_letter_queue_takes_from_several_topics) {
    client c(folder.file());
    const auto one = queue_topology::make(topology("one").dlq_named("morgue")).value();
    const auto two = queue_topology::make(topology("two").dlq_named("morgue")).value();
    c.declare(one);
    c.declare(two);
    c.publish(one, {"1"});
    c.publish(two, {"2"});
    for (const auto& t : {one, two}) {
        auto sub = c.subscribe(t);
        EXPECT_TRUE(settle(*sub, receive(*sub), kind::dead_letter).empty());
    }
    EXPECT_EQ(c.depth("morgue").ready, 2u);
}

TEST_F(delivery_test, without_a_dead_letter_queue_the_message_stays_ours) {
    client c(folder.file());
    const auto bare = queue_topology::make(topology("bare")).value();
    c.declare(bare);
    c.publish(bare, {"a"});
    auto sub = c.subscribe(bare);
    auto failed = settle(*sub, receive(*sub), kind::dead_letter);
    ASSERT_EQ(failed.size(), 1u);
    EXPECT_EQ(failed[0].cause, errc::invalid_argument);
    EXPECT_TRUE(settle(*sub, std::move(failed[0].what.item), kind::complete).empty());
}

TEST_F(delivery_test, waiting_readers_share_what_comes) {
    client c(folder.file());
    c.declare(orders);
    auto first = c.subscribe(orders);
    auto second = c.subscribe(orders);
    outcome_of<result<deliveries>> one;
    outcome_of<result<deliveries>> two;
    first->receive(100, one.callback());
    second->receive(100, two.callback());
    c.publish(orders, {"a", "b", "c", "d"});
    EXPECT_EQ(one.get().value().size(), 2u);
    EXPECT_EQ(two.get().value().size(), 2u);
}

TEST_F(delivery_test, prefetch_is_a_bound) {
    client c(folder.file());
    c.declare(orders);
    c.publish(orders, {"a", "b", "c", "d"});
    auto sub = c.subscribe(orders, 3);
    auto got = receive(*sub, 100);
    EXPECT_EQ(got.size(), 3u);
    outcome_of<result<deliveries>> more;
    sub->receive(100, more.callback());
    EXPECT_FALSE(more.within(100ms));
    EXPECT_TRUE(settle(*sub, std::move(got[0]), kind::complete).empty());
    EXPECT_EQ(more.get().value().size(), 1u);
}

TEST_F(delivery_test, cancelling_a_receive_loses_nothing) {
    client c(folder.file());
    c.declare(orders);
    auto sub = c.subscribe(orders);
    outcome_of<result<deliveries>> waiting;
    sub->receive(10, waiting.callback());
    sub->cancel_receive();
    EXPECT_EQ(waiting.get().error(), errc::cancelled);
    c.publish(orders, {"a"});
    EXPECT_EQ(receive(*sub).size(), 1u);
}

TEST_F(delivery_test, a_closed_subscription_gives_back_what_it_held) {
    client c(folder.file());
    c.declare(orders);
    c.publish(orders, {"a"});
    auto sub = c.subscribe(orders);
    auto got = receive(*sub);
    EXPECT_FALSE(close(*sub));
    auto next = c.subscribe(orders);
    const auto again = receive(*next);
    ASSERT_EQ(again.size(), 1u);
    EXPECT_TRUE(again[0].redelivered);
    EXPECT_EQ(again[0].past, nullptr) << "no crash is counted";
}

TEST_F(delivery_test, unknown_queues_are_named) {
    client c(folder.file());
    spi::publish_request request;
    request.messages.push_back({text_message("a"), 0ms});
    const auto report = c.try_publish(orders, std::move(request));
    ASSERT_EQ(report.each.size(), 1u);
    EXPECT_EQ(report.each[0].status, spi::publish_status::failed);
    EXPECT_EQ(report.each[0].cause, errc::unknown_queue);
    EXPECT_NE(report.each[0].cause.message().find("orders"), std::string::npos);
    outcome_of<result<spi::queue_depth>> depth;
    c.driver().depth("nothing", depth.callback());
    EXPECT_EQ(depth.get().error(), errc::unknown_queue);
}

TEST_F(delivery_test, one_job_that_fails_does_not_spoil_its_group) {
    client c(folder.file());
    c.declare(orders);
    std::vector<outcome_of<spi::publish_report>> answers(20);
    for (std::size_t i = 0; i < answers.size(); ++i) {
        spi::publish_request request;
        request.messages.push_back({text_message("x"), 0ms});
        const auto target = i % 2 == 0 ? orders : plain_topology("nowhere");
        c.driver().publish(*target, std::move(request), answers[i].callback());
    }
    for (std::size_t i = 0; i < answers.size(); ++i) {
        const auto report = answers[i].get();
        EXPECT_EQ(report.each.empty(), i % 2 == 0);
    }
    EXPECT_EQ(c.depth("orders").ready, 10u);
}

}  // namespace

}  // namespace shove::sqlite_test
