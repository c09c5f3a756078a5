// Lists, browsing, moving and removing: what the command line and the dashboard do.

#include "support.hpp"

#include <fstream>

namespace shove::sqlite_test {

namespace {

using kind = spi::settlement_kind;

struct admin_test : testing::Test {
    scratch_folder folder;
    topology_ptr orders = plain_topology();
};

/// AddressSanitizer keeps freed memory for a while, so that the size of the process says nothing.
constexpr bool memory_is_kept_back() {
#if defined(__has_feature)
    return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return true;
#else
    return false;
#endif
}

/// Kilobytes of memory in use by this process.
std::size_t resident() {
    std::ifstream statm("/proc/self/statm");
    std::size_t all = 0;
    std::size_t pages = 0;
    statm >> all >> pages;
    return pages * 4;
}

void fill(client& c, const topology_ptr& to, std::size_t count) {
    for (std::size_t done = 0; done < count; done += 1000) {
        spi::publish_request request;
        for (std::size_t i = done; i < std::min(done + 1000, count); ++i) {
            request.messages.push_back({text_message(std::to_string(i), "id-" + std::to_string(i)), 0ms});
        }
        ASSERT_TRUE(c.try_publish(to, std::move(request)).each.empty());
    }
}

TEST_F(admin_test, queues_are_listed_with_their_depths) {
    client c(folder.file());
    c.declare(orders);
    c.declare(plain_topology("a"));
    c.publish(orders, {"1", "2"});
    c.publish(orders, {"3"}, 1h);
    auto sub = c.subscribe(orders);
    receive(*sub, 1);
    const auto all = c.queues();
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0].name, "a");
    EXPECT_EQ(all[2].name, "orders");
    EXPECT_EQ(all[2].depth.ready, 1u);
    EXPECT_EQ(all[2].depth.in_flight, 1u);
    EXPECT_EQ(all[2].depth.delayed, 1u);
}

TEST_F(admin_test, the_oldest_ready_message_tells_the_age) {
    auto time = std::make_shared<manual_clock>();
    client c(folder.file(), time);
    c.declare(orders);
    EXPECT_FALSE(c.depth("orders").oldest_age.has_value());
    message_parts parts;
    parts.published_at = time->wall();
    c.publish_message(orders, message::make(parts));
    time->advance(7s);
    EXPECT_EQ(c.depth("orders").oldest_age, 7s);
}

TEST_F(admin_test, browsing_shows_what_waits_and_not_what_is_in_flight) {
    client c(folder.file());
    c.declare(orders);
    c.publish(orders, {"a", "b", "c", "d"});
    auto sub = c.subscribe(orders);
    auto got = receive(*sub, 2);
    EXPECT_TRUE(settle(*sub, std::move(got[0]), kind::delay, 1h).empty());
    const auto page = c.browse("orders", 0, 10);
    ASSERT_EQ(page.size(), 3u);
    EXPECT_EQ(body_of(page[0].msg), "a");
    EXPECT_EQ(body_of(page[1].msg), "c");
    const auto rest = c.browse("orders", page[1].cursor, 10);
    ASSERT_EQ(rest.size(), 1u);
    EXPECT_EQ(body_of(rest[0].msg), "d");
}

TEST_F(admin_test, moving_skips_what_is_gone_or_in_flight) {
    client c(folder.file());
    c.declare(orders);
    c.publish(orders, {"a", "b", "c"});
    const auto page = c.browse("orders", 0, 10);
    auto sub = c.subscribe(orders);
    receive(*sub, 1);
    EXPECT_EQ(c.remove("orders", {page[1].cursor}), 1u);
    EXPECT_EQ(c.remove("orders", {page[1].cursor}), 0u);
    std::vector<spi::moved> items;
    for (const auto& one : page)
        items.push_back({one.cursor, one.msg});
    EXPECT_EQ(c.move("orders", "orders-dlq", std::move(items)), 1u);
    const auto moved = c.browse("orders-dlq", 0, 10);
    ASSERT_EQ(moved.size(), 1u);
    EXPECT_EQ(body_of(moved[0].msg), "c");
}

TEST_F(admin_test, an_unknown_target_moves_nothing) {
    client c(folder.file());
    c.declare(orders);
    c.publish(orders, {"a"});
    const auto page = c.browse("orders", 0, 10);
    std::vector<spi::moved> items;
    items.push_back({page[0].cursor, page[0].msg});
    outcome_of<result<std::size_t>> answer;
    c.driver().admin()->move("orders", "nowhere", std::move(items), answer.callback());
    EXPECT_EQ(answer.get().error(), errc::unknown_queue);
    EXPECT_EQ(c.depth("orders").ready, 1u);
}

TEST_F(admin_test, a_hundred_thousand_dead_letters_are_browsed_and_replayed_in_flat_memory) {
    constexpr std::size_t count = 100'000;
    client c(sqlite::config{.path = folder.file(), .durability = sqlite::durability::normal});
    c.declare(orders);
    const auto letters = queue_topology::make(topology("orders-dlq")).value();
    fill(c, letters, count);
    ASSERT_EQ(c.depth("orders-dlq").ready, count);
    c.browse("orders-dlq", 0, 500);
    const auto before = resident();
    std::size_t seen = 0;
    std::uint64_t after = 0;
    for (;;) {
        auto page = c.browse("orders-dlq", after, 500);
        if (page.empty()) break;
        after = page.back().cursor;
        seen += page.size();
        std::vector<spi::moved> items;
        for (auto& one : page)
            items.push_back({one.cursor, std::move(one.msg)});
        ASSERT_EQ(c.move("orders-dlq", "orders", std::move(items)), page.size());
    }
    EXPECT_EQ(seen, count);
    EXPECT_EQ(c.depth("orders").ready, count);
    EXPECT_EQ(c.depth("orders-dlq").ready, 0u);
    if (!memory_is_kept_back()) {
        EXPECT_LT(resident(), before + 32 * 1024) << "kilobytes";
    }
    const auto first = c.browse("orders", 0, 1);
    EXPECT_EQ(first.at(0).msg.id(), "id-0");
}

}  // namespace

}  // namespace shove::sqlite_test
