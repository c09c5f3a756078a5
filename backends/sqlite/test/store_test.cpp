// Below the driver: query plans, group commit, and the books that the catalog keeps.

#include "query_plans.hpp"
#include "support.hpp"

#include "attendance.hpp"
#include "claims.hpp"
#include "publish_job.hpp"
#include "queue_jobs.hpp"
#include "settle_job.hpp"
#include "store.hpp"
#include "view.hpp"
#include "writer.hpp"

#include <random>
#include <set>

namespace shove::sqlite_test {

namespace {

using namespace sqlite_backend;

struct store_test : testing::Test {
    scratch_folder folder;
    std::shared_ptr<manual_clock> time = std::make_shared<manual_clock>();

    std::unique_ptr<store> open() { return store::open({.path = folder.file()}, time).value(); }
};

TEST_F(store_test, no_statement_reads_or_sorts_what_grows_with_the_queue) {
    auto file = open();
    claims claiming(*file);
    view reads({.path = folder.file(), .mode = database::access::read_only}, time);
    // These read small tables from end to end: owners, queues, their feeds and shards, and what is in flight
    // (which is also sorted).
    const std::set<std::string> small{"SCAN owner; ",
                                      "SCAN lease; ",
                                      "SCAN queue; ",
                                      "SCAN reader_group; ",
                                      "SCAN feed; ",
                                      "SCAN shard; ",
                                      "SCAN queue USING INDEX sqlite_autoindex_queue_1; "};
    int checked = 0;
    for (auto* db : {&file->db, &reads.connection()}) {
        for (const auto& sql : statements_of(*db)) {
            if (sql.starts_with("PRAGMA") || sql.starts_with("BEGIN") || sql.starts_with("COMMIT")) continue;
            const auto costly = costly_steps(*db, sql);
            EXPECT_TRUE(db->ok()) << db->failure().message();
            const bool fine = costly.empty() || small.contains(costly) ||
                              sql.starts_with("UPDATE reader_group SET suspect") ||
                              (sql.find("FROM lease l ") != sql.npos && costly == "USE TEMP B-TREE FOR ORDER BY; ");
            EXPECT_TRUE(fine) << sql << "\n  " << costly;
            ++checked;
        }
    }
    EXPECT_GT(checked, 30);
}

struct working_writer {
    std::shared_ptr<mailbox> inbox = std::make_shared<mailbox>(mailbox::limits{});
    std::shared_ptr<clock> time;

    void publish(const std::string& queue, std::size_t count, spi::callback<void(spi::publish_report)> done) {
        spi::publish_request request;
        for (std::size_t i = 0; i < count; ++i)
            request.messages.push_back({text_message("x"), 0ms});
        inbox->publish(std::make_unique<publish_job>(queue, std::move(request), std::move(done)), *time);
    }
};

TEST_F(store_test, what_waits_together_is_committed_together) {
    working_writer w{.time = time};
    writer works(open(), w.inbox, time, 20ms);
    int confirmed = 0;
    w.inbox->post(std::make_unique<declare_job>(plain_topology(), [](const error&) {}));
    for (int i = 0; i < 500; ++i) {
        w.publish("orders", 1, [&](spi::publish_report report) { confirmed += report.each.empty() ? 1 : 0; });
    }
    w.inbox->shut();
    works.run();
    EXPECT_EQ(confirmed, 500);
    EXPECT_EQ(works.commits(), 1u);
}

TEST_F(store_test, a_transaction_takes_a_bounded_number_of_publishes) {
    working_writer w{.time = time};
    writer works(open(), w.inbox, time, 20ms);
    w.inbox->post(std::make_unique<declare_job>(plain_topology(), [](const error&) {}));
    int confirmed = 0;
    for (int i = 0; i < 10; ++i)
        w.publish("orders", 4096, [&](const auto&) { ++confirmed; });
    w.inbox->shut();
    works.run();
    EXPECT_EQ(confirmed, 10);
    EXPECT_EQ(works.commits(), 10u);
}

/// What the tables say, counted the slow way.
struct true_counts {
    std::int64_t unstarted = 0;
    std::int64_t parked = 0;
    std::int64_t leased = 0;
    std::int64_t messages = 0;

    explicit true_counts(database& db)
        : unstarted(db.number("SELECT count(*) FROM message m, queue q, reader_group g WHERE q.name = 'orders' AND "
                              "g.queue_id = q.id AND m.seq > g.cursor AND m.seq <= q.tail AND NOT EXISTS (SELECT 1 "
                              "FROM parked p WHERE p.group_id = g.id AND p.seq = m.seq)")),
          parked(db.number("SELECT count(*) FROM parked")),
          leased(db.number("SELECT count(*) FROM lease")),
          messages(db.number("SELECT count(*) FROM message")) {}
};

TEST_F(store_test, the_books_are_right_after_any_order_of_events) {
    std::mt19937 random(20'240'711);
    const auto orders = plain_topology();
    client c(sqlite::config{.path = folder.file(), .lease = 24h}, time);
    c.declare(orders);
    auto sub = c.subscribe(orders, 1000);
    deliveries held;
    std::int64_t alive = 0;
    const auto pick = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    for (int step = 0; step < 600; ++step) {
        switch (pick(7)) {
            case 0:
                c.publish(orders, {"a", "b"});
                alive += 2;
                break;
            case 1:
                c.publish(orders, {"d"}, milliseconds(1 + pick(5000)));
                alive += 1;
                break;
            case 2: {
                if (c.depth("orders").ready == 0) break;
                for (auto& one : receive(*sub, 1 + pick(4)))
                    held.push_back(std::move(one));
                break;
            }
            case 3:
                time->advance(milliseconds(pick(2000)));
                break;
            case 4: {
                const auto page = c.browse("orders", 0, 50);
                if (page.empty()) break;
                alive -= static_cast<std::int64_t>(c.remove("orders", {page[pick(page.size())].cursor}));
                break;
            }
            default: {
                if (held.empty()) break;
                std::swap(held[pick(held.size())], held.back());
                const auto how = pick(3);
                const auto what = how == 0   ? spi::settlement_kind::complete
                                  : how == 1 ? spi::settlement_kind::delay
                                             : spi::settlement_kind::release;
                ASSERT_TRUE(settle(*sub, std::move(held.back()), what, milliseconds(pick(3000))).empty());
                alive -= what == spi::settlement_kind::complete ? 1 : 0;
                held.pop_back();
            }
        }
        if (step % 20 != 0) continue;
        database db({.path = folder.file()});
        const true_counts counted(db);
        const auto depth = c.depth("orders");
        ASSERT_EQ(counted.messages, alive) << "step " << step;
        ASSERT_EQ(counted.leased, static_cast<std::int64_t>(held.size()));
        ASSERT_EQ(depth.in_flight, held.size());
        ASSERT_EQ(static_cast<std::int64_t>(depth.ready + depth.delayed), counted.unstarted + counted.parked);
        ASSERT_EQ(alive, counted.unstarted + counted.parked + counted.leased);
        ASSERT_EQ(c.browse("orders", 0, 100'000).size(), static_cast<std::size_t>(counted.unstarted + counted.parked));
    }
}

}  // namespace

}  // namespace shove::sqlite_test
