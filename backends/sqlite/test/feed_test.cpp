// Queues that get a copy of what is published to another one: reader groups, and subscriptions to broadcasts.

#include "support.hpp"

#include "database.hpp"

#include <algorithm>

namespace shove::sqlite_test {

namespace {

using kind = spi::settlement_kind;
using sqlite_backend::database;

struct feed_test : testing::Test {
    scratch_folder folder;
    topology_ptr orders = plain_topology();
    topology_ptr audit = queue_topology::make(topology("orders").for_consumer_group("audit").dlq()).value();
    topology_ptr news = queue_topology::make(topology("news").broadcast()).value();

    std::int64_t rows(const std::string& table) {
        database db({.path = folder.file()});
        return db.number(("SELECT count(*) FROM " + table).c_str());
    }
    /// Nothing of any subscription.
    void expect_clean() {
        for (const auto* table : {"feed", "message", "parked", "lease", "history"})
            EXPECT_EQ(rows(table), 0) << table;
        EXPECT_EQ(rows("queue"), rows("reader_group"));
        EXPECT_EQ(rows("queue"), 1);
    }
};

error try_declare(client& c, const topology& spec) {
    outcome_of<error> answer;
    c.driver().declare(queue_topology::make(spec).value(), answer.callback());
    return answer.get();
}

TEST_F(feed_test, a_message_is_copied_with_all_its_columns) {
    client c(folder.file());
    c.declare(orders);
    c.declare(audit);
    message_parts parts;
    parts.id = "id-1";
    parts.key = "k";
    parts.type = "t";
    parts.content_type = "text/plain";
    parts.published_at = wall_time(5s);
    parts.expires_at = wall_time(std::chrono::sys_days(std::chrono::year(2090) / 1 / 1));
    headers extra;
    extra.add("n", 7);
    parts.headers = extra;
    c.publish_message(orders, message::make(parts));
    const auto original = c.browse("orders", 0, 10).at(0).msg;
    const auto copy = c.browse("orders-audit", 0, 10).at(0).msg;
    EXPECT_EQ(copy.id(), "id-1");
    EXPECT_EQ(copy.key(), "k");
    EXPECT_EQ(copy.type(), "t");
    EXPECT_EQ(copy.content_type(), "text/plain");
    EXPECT_EQ(copy.published_at(), original.published_at());
    EXPECT_EQ(copy.expires_at(), original.expires_at());
    EXPECT_EQ(copy.headers().find("n")->as_integer(), 7);
}

TEST_F(feed_test, a_reader_is_for_good) {
    {
        client c(folder.file());
        c.declare(orders);
        c.declare(audit);
    }
    client c(folder.file());
    c.publish(orders, {"a"});
    const auto sub = c.subscribe(audit);
    EXPECT_EQ(body_of(receive_all(*sub, 1).front()), "a");
    EXPECT_EQ(c.depth("orders").ready, 1U);
}

TEST_F(feed_test, an_external_queue_is_not_made_for_its_reader) {
    client c(folder.file());
    const auto foreign = topology("orders").external().for_consumer_group("audit");
    EXPECT_EQ(try_declare(c, foreign), errc::unknown_queue);
    c.declare(orders);
    EXPECT_FALSE(try_declare(c, foreign));
    c.publish(orders, {"a"});
    EXPECT_EQ(c.depth("orders-audit").ready, 1U);
}

TEST_F(feed_test, a_place_has_one_source_and_a_name_one_kind) {
    client c(folder.file());
    c.declare(news);
    EXPECT_FALSE(try_declare(c, topology("orders").for_consumer_group("a-b")));
    EXPECT_FALSE(try_declare(c, topology("orders").for_consumer_group("a-b")));
    EXPECT_EQ(try_declare(c, topology("orders-a").for_consumer_group("b")), errc::invalid_topology);
    EXPECT_EQ(try_declare(c, topology("news")), errc::invalid_topology);
    EXPECT_EQ(try_declare(c, topology("news").for_consumer_group("x")), errc::invalid_topology);
    EXPECT_EQ(try_declare(c, topology("orders").broadcast()), errc::invalid_topology);
    spi::publish_request request;
    request.messages.push_back({text_message("a"), 0ms});
    const auto report = c.try_publish(plain_topology("news"), std::move(request));
    EXPECT_EQ(report.each.at(0).cause, errc::invalid_topology);
    outcome_of<result<std::shared_ptr<spi::subscription>>> answer;
    c.driver().subscribe({plain_topology("news"), false, 1, "test"}, answer.callback());
    EXPECT_EQ(answer.get().error(), errc::invalid_topology);
}

TEST_F(feed_test, a_reader_has_the_shards_of_its_queue) {
    const auto sharded = [](std::string_view queue, std::uint16_t shards) {
        return topology(queue).hold(1s).dlq().sequenced(sequence_failure::skip).routing_shards(shards);
    };
    client c(folder.file());
    c.declare(orders);
    EXPECT_FALSE(try_declare(c, sharded("keyed", 4)));
    EXPECT_FALSE(try_declare(c, sharded("keyed", 4).for_consumer_group("audit")));
    for (const auto& wrong :
         {topology("keyed").for_consumer_group("a"), sharded("keyed", 3).for_consumer_group("a"),
          sharded("keyed", 5).for_consumer_group("a"), sharded("orders", 4).for_consumer_group("a")})
        EXPECT_EQ(try_declare(c, wrong), errc::invalid_topology);
}

TEST_F(feed_test, messages_cannot_be_moved_into_a_broadcast) {
    client c(folder.file());
    c.declare(orders);
    c.declare(news);
    c.publish(orders, {"a"});
    std::vector<spi::moved> items;
    items.push_back({c.browse("orders", 0, 1).at(0).cursor, text_message("a")});
    outcome_of<result<std::size_t>> answer;
    c.driver().admin()->move("orders", "news", std::move(items), answer.callback());
    EXPECT_EQ(answer.get().error(), errc::unsupported);
    EXPECT_EQ(c.depth("orders").ready, 1U);
}

TEST_F(feed_test, a_subscription_goes_with_all_that_is_in_it) {
    client c(folder.file());
    c.declare(news);
    c.publish(news, {"to nobody"});
    expect_clean();
    const auto sub = c.subscribe(news, 10);
    c.publish(news, {"a", "b", "c", "d"});
    auto got = receive_all(*sub, 4);
    got.pop_back();                                                           // stays in flight
    EXPECT_TRUE(settle(*sub, std::move(got.back()), kind::release).empty());  // stays parked
    got.pop_back();
    c.publish(news, {"later"}, 1h);
    c.publish(news, {"e"});
    EXPECT_EQ(rows("feed"), 1);
    EXPECT_FALSE(close(*sub));
    expect_clean();
    c.publish(news, {"f"});
    expect_clean();
}

TEST_F(feed_test, numbers_of_queues_are_used_again) {
    client c(folder.file());
    c.declare(news);
    client other(folder.file());
    for (int i = 0; i < 30; ++i) {
        const auto one = c.subscribe(news, 10);
        const auto two = other.subscribe(news, 10);
        other.publish(news, {"a" + std::to_string(i), "b"});
        EXPECT_EQ(body_of(receive_all(*one, 2).front()), "a" + std::to_string(i)) << "nothing of an earlier one";
        EXPECT_EQ(body_of(receive_all(*two, 2).front()), "a" + std::to_string(i));
        database db({.path = folder.file()});
        EXPECT_LE(db.number("SELECT max(id) FROM queue"), 5);
        EXPECT_FALSE(close(*one));
        EXPECT_FALSE(close(*two));
    }
    c.publish(news, {"to nobody"});
    expect_clean();
}

TEST_F(feed_test, an_orderly_end_of_the_driver_ends_its_subscriptions) {
    {
        client c(folder.file());
        c.declare(news);
        const auto sub = c.subscribe(news, 10);
        c.publish(news, {"a", "b"});
        (void)receive_all(*sub, 2);
        c.publish(news, {"c"});
        EXPECT_FALSE(c.close());
    }
    expect_clean();
}

TEST_F(feed_test, a_dead_process_leaves_nothing) {
    in_killed_child([&, this] {
        auto* c = new client(folder.file());
        c->declare(news);
        auto* held = new std::shared_ptr(c->subscribe(news, 10));
        c->publish(news, {"a", "b"});
        (void)receive_all(**held, 2);
        c->publish(news, {"c"});
    });
    EXPECT_EQ(rows("feed"), 1);
    client c(folder.file());
    expect_clean();
}

TEST_F(feed_test, a_subscription_hears_what_others_publish_in_order) {
    client c(folder.file());
    client other(folder.file());
    c.declare(news);
    const auto sub = c.subscribe(news, 1);
    std::vector<std::string> sent;
    for (int i = 0; i < 50; ++i) {
        sent.push_back(std::to_string(i));
        (i % 2 ? c : other).publish(news, {sent.back()});
    }
    std::vector<std::string> heard;
    while (heard.size() < sent.size()) {
        auto got = receive_all(*sub, 1);
        heard.push_back(body_of(got.front()));
        EXPECT_TRUE(settle(*sub, std::move(got), kind::complete).empty());
    }
    EXPECT_EQ(heard, sent);
}

}  // namespace

}  // namespace shove::sqlite_test
