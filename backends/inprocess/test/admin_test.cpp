#include "driver_fixture.hpp"

// Looking into queues and moving what waits there, beside consumers.
namespace {

using namespace inprocess_test;
using page = std::vector<spi::browsed>;

class admin : public driver_fixture {
protected:
    page browse(const std::string& queue, std::uint64_t after, std::size_t max) {
        box<shove::result<page>> done;
        driver->admin()->browse(queue, after, max, done.sink());
        return std::move(done.value().value());
    }
    std::size_t remove(const std::string& queue, std::vector<std::uint64_t> cursors) {
        box<shove::result<std::size_t>> done;
        driver->admin()->remove(queue, std::move(cursors), done.sink());
        return done.value().value();
    }
    static bodies bodies_of(const page& rows) {
        bodies all;
        for (const auto& row : rows)
            all.push_back(body_of(row.msg));
        return all;
    }
    static std::vector<spi::moved> copies(const page& rows) {
        std::vector<spi::moved> items;
        for (const auto& row : rows)
            items.push_back({row.cursor, text(body_of(row.msg) + "'")});
        return items;
    }
};

TEST_F(admin, lists_queues_with_their_dead_letters) {
    declare(make(shove::topology("alpha")));
    put({"a", "b"});
    auto sub = subscribe();
    settle(*sub, get(*sub, 1), dead_letter);
    box<shove::result<std::vector<spi::queue_info>>> done;
    driver->admin()->list_queues(done.sink());
    const auto& rows = done.value().value();
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].name, "alpha");
    EXPECT_EQ(rows[1].name, "jobs");
    EXPECT_EQ(rows[1].depth.ready, 1u);
    EXPECT_EQ(rows[1].dead_letter_queue, "jobs-dlq");
    EXPECT_EQ(rows[1].dead, 1u);
    EXPECT_EQ(rows[2].name, "jobs-dlq");
}

TEST_F(admin, browses_in_pages_with_rising_cursors) {
    put({"a", "b", "c", "d", "e"});
    auto first = browse("jobs", 0, 2);
    EXPECT_EQ(bodies_of(first), (bodies{"a", "b"}));
    auto second = browse("jobs", first.back().cursor, 2);
    EXPECT_EQ(bodies_of(second), (bodies{"c", "d"}));
    EXPECT_EQ(bodies_of(browse("jobs", second.back().cursor, 2)), bodies{"e"});
    EXPECT_GT(second.front().cursor, first.back().cursor);
    EXPECT_EQ(depth().ready, 5u);
}

TEST_F(admin, cursors_stay_while_the_queue_moves) {
    put({"a", "b", "c", "d"});
    auto sub = subscribe();
    const auto rows = browse("jobs", 0, 10);
    auto held = get(*sub, 2);
    EXPECT_EQ(bodies_of(browse("jobs", rows[0].cursor, 10)), (bodies{"c", "d"}));
    settle(*sub, std::move(held), release);
    const auto again = browse("jobs", 0, 10);
    EXPECT_EQ(bodies_of(again), (bodies{"a", "b", "c", "d"}));
    for (std::size_t i = 0; i < rows.size(); ++i)
        EXPECT_EQ(again[i].cursor, rows[i].cursor);
}

TEST_F(admin, browse_shows_the_history) {
    put({"a"});
    auto sub = subscribe();
    auto batch = get(*sub);
    batch[0].past = std::make_unique<spi::history>();
    batch[0].past->death_reason = "rejected";
    settle(*sub, std::move(batch), dead_letter);
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(browse("jobs-dlq", 0, 1)[0].past->death_reason, "rejected");
}

TEST_F(admin, removes_from_anywhere) {
    put({"a", "b", "c", "d"});
    const auto rows = browse("jobs", 0, 10);
    EXPECT_EQ(remove("jobs", {rows[2].cursor, rows[0].cursor, rows[2].cursor, 99'999}), 2u);
    EXPECT_EQ(bodies_of(browse("jobs", 0, 10)), (bodies{"b", "d"}));
    EXPECT_EQ(depth().ready, 2u);
    EXPECT_EQ(inprocess_test::bodies_of(get(*subscribe())), (bodies{"b", "d"}));
}

TEST_F(admin, remove_makes_room) {
    reopen({.capacity = 1});
    put({"a"});
    box<spi::publish_report> done;
    put_waiting({"b"}, shove::steady_time::max(), done);
    remove("jobs", {browse("jobs", 0, 1)[0].cursor});
    EXPECT_TRUE(done.ready());
}

TEST_F(admin, moves_copies_in_exchange_for_originals) {
    put({"a", "b", "c"});
    declare(make(shove::topology("other")));
    auto rows = browse("jobs", 0, 2);
    auto items = copies(rows);
    items.push_back({77'777, text("gone")});
    box<shove::result<std::size_t>> done;
    driver->admin()->move("jobs", "other", std::move(items), done.sink());
    EXPECT_EQ(done.value().value(), 2u);
    EXPECT_EQ(bodies_of(browse("jobs", 0, 10)), bodies{"c"});
    EXPECT_EQ(bodies_of(browse("other", 0, 10)), (bodies{"a'", "b'"}));
    EXPECT_EQ(depth().in_flight, 0u);
}

TEST_F(admin, a_move_waits_for_room_and_puts_back_what_does_not_fit) {
    reopen({.capacity = 3});
    declare(make(shove::topology("other")));
    put({"a", "b", "c"});
    topology = make(shove::topology("other"));
    put({"x", "y"});
    box<shove::result<std::size_t>> done;
    driver->admin()->move("jobs", "other", copies(browse("jobs", 0, 10)), done.sink());
    EXPECT_FALSE(done.ready());
    EXPECT_EQ(depth("jobs").in_flight, 3u);
    clock->advance(1h);
    EXPECT_EQ(done.value().value(), 1u);
    EXPECT_EQ(bodies_of(browse("jobs", 0, 10)), (bodies{"b", "c"}));
    box<shove::result<std::size_t>> none;
    driver->admin()->move("jobs", "other", copies(browse("jobs", 0, 10)), none.sink());
    clock->advance(1h);
    EXPECT_EQ(none.value().error(), errc::queue_full);
    EXPECT_EQ(bodies_of(browse("jobs", 0, 10)), (bodies{"b", "c"}));
}

TEST_F(admin, shows_200000_messages_in_pages) {
    reopen({.capacity = 200'000});
    put(bodies(200'000, "x"));
    std::uint64_t cursor = 0;
    std::size_t seen = 0;
    for (;;) {
        const auto rows = browse("jobs", cursor, 100);
        if (rows.empty()) break;
        seen += rows.size();
        cursor = rows.back().cursor;
    }
    EXPECT_EQ(seen, 200'000u);
}

TEST_F(admin, names_an_unknown_queue) {
    box<shove::result<page>> rows;
    driver->admin()->browse("nope", 0, 1, rows.sink());
    EXPECT_EQ(rows.value().error(), errc::unknown_queue);
    box<shove::result<std::size_t>> moved, removed;
    driver->admin()->move("jobs", "nope", {}, moved.sink());
    EXPECT_THAT(moved.value().error().message(), testing::HasSubstr("'nope'"));
    driver->admin()->remove("nope", {}, removed.sink());
    EXPECT_EQ(removed.value().error(), errc::unknown_queue);
}

TEST_F(admin, is_refused_after_close) {
    close();
    box<shove::result<std::vector<spi::queue_info>>> rows;
    driver->admin()->list_queues(rows.sink());
    EXPECT_EQ(rows.value().error(), errc::closed);
    box<shove::result<std::size_t>> removed;
    driver->admin()->remove("jobs", {1}, removed.sink());
    EXPECT_EQ(removed.value().error(), errc::closed);
}

}  // namespace
