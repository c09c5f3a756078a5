#include "driver_fixture.hpp"

#include <atomic>
#include <future>
#include <set>
#include <thread>

// Queues that get a copy of what is published to another one: reader groups, and subscriptions to broadcasts.
namespace {

using namespace inprocess_test;
using testing::HasSubstr;

using topology_ptr = std::shared_ptr<const shove::queue_topology>;
using subscription_ptr = std::shared_ptr<spi::subscription>;

class feed : public driver_fixture {
protected:
    feed() : driver_fixture({.capacity = 3}) { declare(reader); }

    const topology_ptr reader = make(shove::topology("jobs").for_consumer_group("audit").dlq());
    const topology_ptr news = make(shove::topology("news").broadcast());

    shove::result<subscription_ptr> try_subscribe(const topology_ptr& to, spi::source from = {}) {
        from.topology = to;
        box<shove::result<subscription_ptr>> done;
        driver->subscribe(std::move(from), done.sink());
        return done.take();
    }
    subscription_ptr listen(std::size_t prefetch = 1) {
        spi::source from;
        from.prefetch = prefetch;
        from.broadcast.emplace();
        return try_subscribe(news, std::move(from)).value();
    }
    void publish(const topology_ptr& to, spi::publish_request what, box<spi::publish_report>& done) {
        driver->publish(*to, std::move(what), done.sink());
    }
    void tell(const bodies& texts) {
        box<spi::publish_report> done;
        publish(news, request(texts), done);
        ASSERT_TRUE(done.ready());
        ASSERT_TRUE(done.value().each.empty()) << done.value().each.back().cause.message();
    }
    error try_declare(const shove::topology& spec) {
        box<error> done;
        driver->declare(make(spec), done.sink());
        return done.take();
    }
};

TEST_F(feed, a_copy_shares_the_bytes) {
    put({"a"});
    auto here = subscribe();
    auto there = try_subscribe(reader).value();
    const auto original = get(*here);
    const auto copy = get(*there);
    EXPECT_EQ(original.front().msg.payload().data(), copy.front().msg.payload().data());
    EXPECT_NE(original.front().tag, copy.front().tag);
}

TEST_F(feed, a_message_is_in_all_or_in_none) {
    put({"a", "b", "c"});
    auto here = subscribe();
    settle(*here, get(*here), complete);
    box<spi::publish_report> done;
    put_waiting({"d"}, clock->now(), done);
    EXPECT_EQ(done.value().each[0].cause, errc::queue_full);
    EXPECT_THAT(done.value().each[0].cause.message(), HasSubstr("'jobs' or one that it feeds is full"));
    EXPECT_EQ(depth().ready, 0U);
    EXPECT_EQ(depth("jobs-audit").ready, 3U);
}

TEST_F(feed, a_publish_waits_for_the_fullest) {
    put({"a", "b", "c"});
    auto here = subscribe();
    auto there = try_subscribe(reader).value();
    settle(*here, get(*here), complete);
    box<spi::publish_report> done;
    put_waiting({"d", "e"}, clock->now() + 5s, done);
    EXPECT_FALSE(done.ready());
    settle(*there, get(*there, 1), complete);
    EXPECT_FALSE(done.ready());
    EXPECT_EQ(bodies_of(get(*here)), bodies{"d"}) << "what fits everywhere is there already";
    settle(*there, get(*there, 1), dead_letter);
    ASSERT_TRUE(done.ready()) << "a letter that moved made room, too";
    EXPECT_TRUE(done.value().each.empty());
    EXPECT_EQ(depth("jobs-audit").ready + depth("jobs-audit").in_flight, 3U);
}

TEST_F(feed, a_publish_that_waits_for_another_queue_still_has_a_deadline) {
    put({"a", "b", "c"});
    auto here = subscribe();
    settle(*here, get(*here), complete);
    box<spi::publish_report> done;
    put_waiting({"d"}, clock->now() + 5s, done);
    clock->advance(5s);
    ASSERT_TRUE(done.ready());
    EXPECT_EQ(done.value().each[0].cause, errc::queue_full);
    auto there = try_subscribe(reader).value();
    settle(*there, get(*there), complete);
    EXPECT_EQ(depth().ready, 0U) << "it came all the same";
}

TEST_F(feed, a_place_has_one_source) {
    EXPECT_FALSE(try_declare(shove::topology("jobs").for_consumer_group("a-b")));
    EXPECT_FALSE(try_declare(shove::topology("jobs").for_consumer_group("a-b"))) << "again";
    const auto refused = try_declare(shove::topology("jobs-a").for_consumer_group("b"));
    EXPECT_EQ(refused, errc::invalid_topology);
    EXPECT_THAT(refused.message(), HasSubstr("'jobs-a-b'"));
}

TEST_F(feed, a_reader_has_the_shards_of_its_queue) {
    const auto sharded = [](std::string_view queue, std::uint16_t shards) {
        return shove::topology(queue).hold(1s).dlq().sequenced(shove::sequence_failure::skip).routing_shards(shards);
    };
    EXPECT_FALSE(try_declare(sharded("keyed", 4)));
    EXPECT_FALSE(try_declare(sharded("keyed", 4).for_consumer_group("audit")));
    for (const auto& wrong :
         {shove::topology("keyed").for_consumer_group("a"), sharded("keyed", 3).for_consumer_group("a"),
          sharded("keyed", 5).for_consumer_group("a"), sharded("jobs", 4).for_consumer_group("a")}) {
        const auto refused = try_declare(wrong);
        EXPECT_EQ(refused, errc::invalid_topology);
        EXPECT_THAT(refused.message(), HasSubstr("reader group 'a'"));
    }
}

TEST_F(feed, a_name_has_one_kind) {
    declare(news);
    EXPECT_EQ(try_declare(shove::topology("news")), errc::invalid_topology);
    EXPECT_EQ(try_declare(shove::topology("jobs").broadcast()), errc::invalid_topology);
    EXPECT_EQ(try_declare(shove::topology("news").for_consumer_group("audit")), errc::invalid_topology);
    box<spi::publish_report> done;
    publish(make(shove::topology("news")), request({"a", "b"}), done);
    EXPECT_THAT(statuses(done.value()),
                testing::ElementsAre(spi::publish_status::failed, spi::publish_status::not_attempted));
    EXPECT_EQ(try_subscribe(make(shove::topology("news"))).error(), errc::invalid_topology);
    spi::source from;
    from.broadcast = shove::broadcast_start::head();
    EXPECT_EQ(try_subscribe(news, from).error(), errc::unsupported);
}

TEST_F(feed, messages_cannot_be_moved_into_a_broadcast) {
    declare(news);
    put({"a"});
    box<shove::result<std::vector<spi::browsed>>> page;
    driver->admin()->browse("jobs", 0, 10, page.sink());
    std::vector<spi::moved> items;
    items.push_back({page.value()->front().cursor, text("a")});
    box<shove::result<std::size_t>> moved;
    driver->admin()->move("jobs", "news", std::move(items), moved.sink());
    ASSERT_TRUE(moved.ready());
    EXPECT_EQ(moved.value().error(), errc::unsupported);
    EXPECT_EQ(depth().ready, 1U);
}

TEST_F(feed, a_subscription_hears_while_it_lasts) {
    declare(news);
    tell({"before"});
    auto one = listen();
    auto two = listen(10);
    tell({"a", "b"});
    EXPECT_EQ(bodies_of(get(*one)), bodies{"a"});
    auto got = get(*two);
    EXPECT_EQ(bodies_of(got), (bodies{"a", "b"}));
    settle(*two, std::move(got), complete);
    box<error> closed;
    one->close(closed.sink());
    one.reset();
    tell({"c", "d", "e"});
    EXPECT_FALSE(testing::Test::HasFailure()) << "one that is gone takes no room";
    EXPECT_EQ(bodies_of(get(*two)), (bodies{"c", "d", "e"}));
    EXPECT_EQ(depth("news").ready, 0U);
}

TEST_F(feed, a_publisher_does_not_wait_for_one_that_left) {
    declare(news);
    auto slow = listen();
    tell({"a", "b", "c"});
    box<spi::publish_report> done;
    publish(news, request({"d", "e"}), done);
    EXPECT_FALSE(done.ready());
    slow.reset();
    ASSERT_TRUE(done.ready());
    EXPECT_TRUE(done.value().each.empty());
}

TEST_F(feed, a_delayed_message_goes_with_its_subscription) {
    declare(news);
    auto one = listen();
    auto two = listen();
    box<spi::publish_report> done;
    publish(news, request({"later"}, 1s), done);
    one.reset();
    box<received> got;
    two->receive(1, got.sink());
    EXPECT_FALSE(got.ready());
    clock->advance(1s);
    EXPECT_EQ(bodies_of(got.value().value()), bodies{"later"});
}

TEST_F(feed, the_end_of_the_driver_ends_subscriptions) {
    declare(news);
    auto one = listen();
    box<received> got;
    one->receive(1, got.sink());
    close();
    ASSERT_TRUE(got.ready());
    EXPECT_EQ(got.value().error(), errc::closed);
    EXPECT_EQ(
        try_subscribe(news, spi::source{.topology = {}, .consumer = {}, .broadcast = shove::broadcast_start{}}).error(),
        errc::closed);
}

/// Takes and completes what comes, on the threads that publish.
class taker : public std::enable_shared_from_this<taker> {
public:
    explicit taker(subscription_ptr from) : from_(std::move(from)) {}
    void go_on() {
        from_->receive(1, [self = shared_from_this()](received got) {
            if (got) self->take(std::move(*got));
        });
    }
    std::size_t count() const { return count_; }
    void end() {
        from_->close([](const error&) {});
    }

private:
    void take(std::vector<spi::delivery> batch) {
        std::vector<spi::settlement> done;
        for (auto& item : batch)
            done.push_back({std::move(item), complete, 0ms, {}});
        const auto n = done.size();
        from_->settle(std::move(done), [self = shared_from_this(), n](std::vector<spi::failed_settlement> failed) {
            self->count_ += n - failed.size();
            self->go_on();
        });
    }
    const subscription_ptr from_;
    std::atomic<std::size_t> count_{0};
};

TEST_F(feed, nothing_is_lost_while_others_come_and_go) {
    declare(news);
    constexpr std::size_t each = 2'000;
    const auto lasting = std::make_shared<taker>(listen());
    lasting->go_on();
    std::atomic<bool> over{false};
    std::jthread passing([&] {
        while (!over) {
            const auto guest = std::make_shared<taker>(listen());
            guest->go_on();
            std::this_thread::yield();
            guest->end();
        }
    });
    std::vector<std::jthread> publishers;
    for (int i = 0; i < 2; ++i) {
        publishers.emplace_back([&] {
            for (std::size_t n = 0; n < each; ++n) {
                std::promise<bool> stored;
                driver->publish(*news, request({"x"}),
                                [&](spi::publish_report report) { stored.set_value(report.each.empty()); });
                EXPECT_TRUE(stored.get_future().get());
            }
        });
    }
    publishers.clear();
    over = true;
    passing.join();
    EXPECT_EQ(lasting->count(), 2 * each);
    lasting->end();
}

}  // namespace
