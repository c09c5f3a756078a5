#include "rabbitmq_factory.hpp"

#include <shove/shove.hpp>
#include <shove/testkit/events.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>
#include <set>
#include <thread>

/// What looking through queues leaves behind, on both types of queues. Beyond the conformance suite.
namespace shove::testkit {
namespace {

using namespace std::chrono_literals;

/// Waits for the answer to an operation of a driver.
template <class Answer, class Start>
Answer answer_of(Start start) {
    std::promise<Answer> promise;
    start([&](Answer what) { promise.set_value(std::move(what)); });
    auto future = promise.get_future();
    if (future.wait_for(patience()) != std::future_status::ready) throw impatience("an answer of the driver");
    return future.get();
}

std::string text(const message& of) {
    const auto bytes = of.payload();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::string> numbers(int from, int to) {
    std::vector<std::string> made;
    for (int i = from; i < to; ++i)
        made.push_back(std::to_string(i));
    return made;
}

std::vector<std::string> texts(const std::vector<spi::browsed>& of) {
    std::vector<std::string> made;
    for (const auto& each : of)
        made.push_back(text(each.msg));
    return made;
}

std::vector<std::uint64_t> cursors(const std::vector<spi::browsed>& of) {
    std::vector<std::uint64_t> made;
    for (const auto& each : of)
        made.push_back(each.cursor);
    return made;
}

class rabbitmq_admin_test : public testing::TestWithParam<const char*> {
protected:
    rabbitmq_admin_test() { declare(*driver_, topic_); }

    std::shared_ptr<spi::driver> connect(const std::string& url) const {
        return rabbitmq::open(rabbitmq::parse(url).value(), {make_system_clock()}).value();
    }
    std::shared_ptr<spi::driver> connect() const { return connect(url_); }
    static void declare(spi::driver& on, const runtime_topic& topic) {
        const auto why = answer_of<error>([&](auto done) { on.declare(topic.topology, done); });
        ASSERT_FALSE(why) << why.message();
    }
    void publish(int from, int to) {
        spi::publish_request request;
        for (const auto& each : numbers(from, to)) {
            const auto id = "id-" + each;
            message_parts parts;
            parts.id = id;
            parts.payload = std::as_bytes(std::span(each));
            request.messages.push_back({message::make(parts), milliseconds(0)});
        }
        const auto report = answer_of<spi::publish_report>(
            [&](auto done) { driver_->publish(*topic_.topology, std::move(request), done); });
        ASSERT_TRUE(report.each.empty());
    }
    std::vector<spi::browsed> browse(std::uint64_t after, std::size_t max) {
        return answer_of<result<std::vector<spi::browsed>>>(
                   [&](auto done) { driver_->admin()->browse("orders", after, max, done); })
            .value();
    }
    std::size_t remove(std::vector<std::uint64_t> which) {
        return answer_of<result<std::size_t>>(
                   [&](auto done) { driver_->admin()->remove("orders", std::move(which), done); })
            .value();
    }
    result<std::size_t> move(const std::vector<spi::browsed>& which, const std::string& to) {
        std::vector<spi::moved> items;
        for (const auto& each : which)
            items.push_back({each.cursor, each.msg});
        return answer_of<result<std::size_t>>(
            [&](auto done) { driver_->admin()->move("orders", to, std::move(items), done); });
    }
    /// Takes the first ones and acknowledges them. How many of them may have been delivered before.
    std::size_t consume(std::size_t n) {
        std::size_t again = 0;
        const auto sub = answer_of<result<std::shared_ptr<spi::subscription>>>([&](auto done) {
                             driver_->subscribe({.topology = topic_.topology, .prefetch = n, .consumer = "test"}, done);
                         }).value();
        for (std::size_t got = 0; got < n;) {
            auto batch =
                answer_of<result<std::vector<spi::delivery>>>([&](auto done) { sub->receive(n, done); }).value();
            got += batch.size();
            std::vector<spi::settlement> settled(batch.size());
            for (std::size_t i = 0; i < batch.size(); ++i) {
                again += batch[i].redelivered ? 1 : 0;
                settled[i].item = std::move(batch[i]);
                settled[i].kind = spi::settlement_kind::complete;
            }
            (void)answer_of<std::vector<spi::failed_settlement>>(
                [&](auto done) { sub->settle(std::move(settled), done); });
        }
        (void)answer_of<error>([&](auto done) { sub->close(done); });
        return again;
    }
    void close() {
        (void)answer_of<error>([&](auto done) { driver_->close(std::chrono::steady_clock::now() + patience(), done); });
    }
    /// Longer than what was looked at is held.
    static void pause() {
        std::this_thread::sleep_for(700ms);  // real time: the driver's own patience
    }
    /// Ends the driver. All that is in a queue.
    std::vector<std::string> contents(const std::string& queue = "orders") {
        close();
        return host_.take_all(queue);
    }

    rabbitmq_test::rabbitmq_server server_;
    rabbitmq_test::vhost host_{server_};
    std::string url_ = url_of(server_, host_, GetParam());
    runtime_topic topic_ = runtime_topic::make(topology("orders").dlq()).value();
    std::shared_ptr<spi::driver> driver_ = connect();
};

INSTANTIATE_TEST_SUITE_P(both, rabbitmq_admin_test, testing::Values("quorum", "classic"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(rabbitmq_admin_test, looking_keeps_all_in_order) {
    publish(0, 150);
    EXPECT_EQ(texts(browse(0, 40)), numbers(0, 40));
    EXPECT_EQ(texts(browse(0, 5)), numbers(0, 5)) << "fewer than before";
    pause();
    EXPECT_EQ(texts(browse(0, 120)), numbers(0, 120));
    EXPECT_EQ(texts(browse(0, 1)), numbers(0, 1));
    close();
    EXPECT_EQ(contents(), numbers(0, 150));
}

TEST_P(rabbitmq_admin_test, pages_join_with_and_without_a_pause) {
    publish(0, 90);
    std::vector<std::string> seen;
    std::uint64_t after = 0;
    for (int i = 0; i < 9; ++i) {
        const auto page = browse(after, 10);
        ASSERT_EQ(page.size(), 10U);
        for (const auto& each : page) {
            EXPECT_GT(each.cursor, after);
            after = each.cursor;
        }
        std::ranges::move(texts(page), std::back_inserter(seen));
        if (i % 3 == 2) pause();
    }
    EXPECT_TRUE(browse(after, 10).empty());
    EXPECT_EQ(seen, numbers(0, 90));
    EXPECT_EQ(contents(), numbers(0, 90));
}

TEST_P(rabbitmq_admin_test, pages_join_while_others_take_and_add) {
    publish(0, 50);
    const auto first = browse(0, 10);
    consume(5);
    publish(50, 60);
    const auto second = browse(first.back().cursor, 20);
    EXPECT_EQ(texts(second), numbers(10, 30));
    consume(
        7);  // some shown in the first page, some in the second; on quorum queues what a consumer gives back goes last
    EXPECT_EQ(texts(browse(second.back().cursor, 100)), numbers(30, 60));
    EXPECT_EQ(remove(cursors(first)) + remove(cursors(second)), 18U) << "the others were consumed";
    EXPECT_EQ(contents(), numbers(30, 60));
}

TEST_P(rabbitmq_admin_test, removes_just_those) {
    publish(0, 30);
    const auto page = browse(0, 20);
    EXPECT_EQ(remove({page[3].cursor, page[7].cursor, page[3].cursor}), 2U);
    EXPECT_EQ(remove({page[7].cursor}), 0U);
    pause();
    EXPECT_EQ(remove({page[19].cursor, page[0].cursor}), 2U) << "found again by what they are";
    EXPECT_EQ(remove({12'345}), 0U);
    auto left = numbers(0, 30);
    for (const auto* gone : {"0", "3", "7", "19"})
        std::erase(left, gone);
    EXPECT_EQ(contents(), left);
}

TEST_P(rabbitmq_admin_test, equal_messages_are_counted) {
    for (int i = 0; i < 3; ++i)
        host_.publish("orders", "same");
    const auto page = browse(0, 10);
    ASSERT_EQ(page.size(), 3U);
    EXPECT_EQ(remove({page[0].cursor, page[1].cursor}), 2U);
    EXPECT_EQ(contents(), std::vector<std::string>{"same"});
}

TEST_P(rabbitmq_admin_test, moves_to_where_there_is_something) {
    publish(0, 10);
    const auto page = browse(0, 10);
    const auto nowhere = move(page, "nowhere");
    ASSERT_FALSE(nowhere);
    EXPECT_EQ(nowhere.error().code, errc::unknown_queue) << nowhere.error().message();
    EXPECT_EQ(move(page, "orders-dlq").value(), 10U);
    EXPECT_EQ(move(page, "orders-dlq").value(), 0U) << "they are gone";
    EXPECT_EQ(contents(), std::vector<std::string>());
    EXPECT_EQ(contents("orders-dlq"), numbers(0, 10));
}

/// Whenever the connections are cut, a message is in one of the two places.
TEST_P(rabbitmq_admin_test, a_cut_while_moving_loses_nothing) {
    publish(0, 400);
    for (int round = 0; round < 8; ++round) {
        const auto page = browse(0, 1'000);
        std::thread cutting([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(round * 4));  // real time: anywhere in the move
            host_.close_connections();
        });
        (void)move(page, "orders-dlq");
        cutting.join();
    }
    close();
    std::set<std::string> found;
    for (const auto* queue : {"orders", "orders-dlq"}) {
        for (auto& each : contents(queue))
            found.insert(std::move(each));
    }
    EXPECT_EQ(found.size(), 400U);
}

TEST_P(rabbitmq_admin_test, lists_no_helpers) {
    const auto sequenced =
        runtime_topic::make(topology("steps").hold(10ms).dlq().sequenced(sequence_failure::fail_all).routing_shards(1))
            .value();
    declare(*driver_, sequenced);
    declare(*driver_, runtime_topic::make(topology("others").hold(10ms)).value());
    const auto rows = answer_of<result<std::vector<spi::queue_info>>>([&](auto done) {
                          driver_->admin()->list_queues(done);
                      }).value();
    std::vector<std::string> names;
    for (const auto& each : rows)
        names.push_back(each.name);
    EXPECT_EQ(names, (std::vector<std::string>{"orders", "orders-dlq", "others", "steps-dlq",
                                               sequenced.topology->sequencing->reader_queues.front()}));
}

TEST_P(rabbitmq_admin_test, a_list_touches_no_message) {
    publish(0, 3);
    const auto rows = answer_of<result<std::vector<spi::queue_info>>>([&](auto done) {
                          driver_->admin()->list_queues(done);
                      }).value();
    EXPECT_EQ(rows.front().depth.ready, 3U);
    EXPECT_EQ(consume(3), 0U) << "as if they had been delivered before";
}

TEST_P(rabbitmq_admin_test, a_shard_is_not_looked_through) {
    const auto steps =
        runtime_topic::make(topology("steps").hold(10ms).dlq().sequenced(sequence_failure::skip).routing_shards(1))
            .value();
    declare(*driver_, steps);
    const auto shard = steps.topology->sequencing->reader_queues.front();
    const auto answer =
        answer_of<result<std::vector<spi::browsed>>>([&](auto done) { driver_->admin()->browse(shard, 0, 10, done); });
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, errc::unsupported);
}

/// By a process that has not declared the topic.
TEST_P(rabbitmq_admin_test, keys_are_released_from_elsewhere) {
    tagged_store<rabbitmq> store(rabbitmq::parse(url_).value());
    const auto steps =
        runtime_topic::make(topology("steps").hold(10ms).dlq().sequenced(sequence_failure::fail_all)).value();
    const auto working = store.open({});
    const auto elsewhere = store.open({});
    working.declare(steps);
    publish_options keyed;
    for (const auto* key : {"a", "b"}) {
        keyed.key = key;
        working.publisher().publish(steps, "bad", keyed);
    }
    auto group = working.consumer_group();
    recorder<std::string> handled;
    group.add(steps, [&](std::span<const std::byte> body, const delivery&) -> outcome {
        const std::string text(reinterpret_cast<const char*>(body.data()), body.size());
        if (text == "bad") return reject("bad");
        handled.add(text);
        return ack;
    });
    group.start();
    const auto keys = [&] { return elsewhere.admin().keys(*steps.topology); };
    eventually("both are poisoned", [&] { return keys().size() == 2; });
    EXPECT_TRUE(elsewhere.admin().release_key(*steps.topology, "a"));
    EXPECT_FALSE(elsewhere.admin().release_key(*steps.topology, "a"));
    ASSERT_EQ(keys().size(), 1U);
    EXPECT_EQ(keys().front().key, "b");
    keyed.key = "a";
    // What the consumer was waiting for when it poisoned the key comes poisoned.
    eventually("the key goes on", [&] {
        working.publisher().publish(steps, "good", keyed);
        return handled.size() > 0;
    });
    EXPECT_TRUE(group.stop(patience()).clean());
}

TEST_P(rabbitmq_admin_test, counts_what_others_delay_and_hold) {
    const auto elsewhere = connect();
    const std::string body = "later";
    message_parts parts;
    parts.payload = std::as_bytes(std::span(body));
    spi::publish_request request;
    request.messages.push_back({message::make(parts), 1h});
    (void)answer_of<spi::publish_report>(
        [&](auto done) { driver_->publish(*topic_.topology, std::move(request), done); });
    const auto depth = [&] {
        return answer_of<result<spi::queue_depth>>([&](auto done) { elsewhere->depth("orders", done); }).value();
    };
    EXPECT_EQ(depth().delayed, 1U);
    publish(0, 3);
    const auto sub = answer_of<result<std::shared_ptr<spi::subscription>>>([&](auto done) {
                         driver_->subscribe({.topology = topic_.topology, .prefetch = 2, .consumer = "test"}, done);
                     }).value();
    eventually("two are in another's hands", [&] { return depth().in_flight == 2; });
    EXPECT_EQ(depth().ready, 1U);
    (void)answer_of<error>([&](auto done) { sub->close(done); });
    eventually("they are back", [&] { return depth().ready == 3; });
    EXPECT_EQ(depth().in_flight, 0U) << "nobody consumes any more";
}

TEST_P(rabbitmq_admin_test, without_management_there_is_none) {
    const auto plain = connect(host_.url() + "?queues=" + GetParam());
    EXPECT_EQ(plain->admin(), nullptr);
    EXPECT_FALSE(plain->capabilities().admin);
    publish(0, 2);
    const auto depth = answer_of<result<spi::queue_depth>>([&](auto done) { plain->depth("orders", done); });
    EXPECT_EQ(depth->ready, 2U);
    EXPECT_TRUE(answer_of<result<spi::description>>([&](auto done) { plain->describe(done); }));
}

}  // namespace
}  // namespace shove::testkit
