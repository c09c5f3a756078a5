#include "sqlite_factory.hpp"

#include <shove/shove.hpp>
#include <shove/testkit/child_process.hpp>
#include <shove/testkit/ledger.hpp>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

/// Eight processes of four publishing threads and four handling workers on one file, beside a program that
/// reads for seconds and one that checkpoints.
namespace shove::testkit {
namespace {

using namespace std::chrono_literals;

constexpr int processes = 8;
constexpr int threads = 4;
constexpr int messages = 20'000;

// Lines of the ledger: P id (confirmed) · H id (handled) · E text (an error or a warning).
runtime_topic crowd_topic() {
    return runtime_topic::make(shove::topology("crowd").hold(10ms).dlq()).value();
}

/// A text as one field of a ledger line.
std::string field(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == ' ' || c == '\n'; }, '_');
    return text;
}

void publish_share(const any_broker& broker, const ledger& book) {
    const auto topic = crowd_topic();
    for (int i = 0; i < messages / processes / threads; ++i) {
        const auto stored = broker.publisher().try_publish(topic, "body");
        if (stored) {
            book.note('P', stored->id());
        } else {
            book.note('E', "publish", field(stored.error().message()));
        }
    }
}

/// One process of the crowd: publishes its share, and handles what comes until nothing is left.
int member(backend_store& store, const child_arguments& arguments) {
    const ledger book(arguments.at("book"));
    broker_options options;
    options.log = [&](log_level level, std::string_view text) {
        if (level >= log_level::warning) book.note('E', "log", field(std::string(text)));
    };
    auto broker = store.open(options);
    auto group = broker.consumer_group();
    group.add(
        crowd_topic(),
        [&](std::span<const std::byte>, const delivery& info) {
            book.note('H', info.id());
            return ack;
        },
        consumer_options{.prefetch = threads});
    group.start();
    {
        std::vector<std::jthread> publishers;
        for (int i = 0; i < threads; ++i)
            publishers.emplace_back([&] { publish_share(broker, book); });
    }
    // What others hold counts: one that stops gives back what it has not started, and somebody must be there to take
    // it.
    const auto left = [&] {
        const auto depth = broker.depth("crowd");
        return depth.ready + depth.delayed + depth.in_flight;
    };
    while (left() > 0)
        std::this_thread::sleep_for(20ms);  // real time: other processes publish
    return group.stop(30s).exit_code();
}

const bool member_role = add_child_role("crowd-member", member);
const bool child = register_child_roles(sqlite_factory(sqlite::durability::normal));

/// Holds a read transaction open for five seconds, again and again, as a report would.
void read_slowly(const std::string& file, const std::stop_token& stop) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open_v2(file.c_str(), &db, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    const std::unique_ptr<sqlite3, int (*)(sqlite3*)> owner(db, sqlite3_close);
    while (!stop.stop_requested()) {
        EXPECT_EQ(sqlite3_exec(db, "BEGIN; SELECT count(*) FROM message", nullptr, nullptr, nullptr), SQLITE_OK);
        for (int i = 0; i < 250 && !stop.stop_requested(); ++i)
            std::this_thread::sleep_for(20ms);  // real time: a long reader is what is tested
        sqlite3_exec(db, "COMMIT", nullptr, nullptr, nullptr);
    }
}

void checkpoint(const std::string& file, const std::stop_token& stop) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(file.c_str(), &db), SQLITE_OK);
    const std::unique_ptr<sqlite3, int (*)(sqlite3*)> owner(db, sqlite3_close);
    while (!stop.stop_requested()) {
        sqlite3_exec(db, "PRAGMA wal_checkpoint(PASSIVE)", nullptr, nullptr, nullptr);
        std::this_thread::sleep_for(100ms);  // real time: checkpoints come between writes
    }
}

TEST(crowd, nothing_is_lost_or_doubled_and_no_lock_is_seen) {
    const scratch_folder folder("shove-crowd");
    const auto file = (folder.path() / "queue.db").string();
    const auto book_path = (folder.path() / "book").string();
    auto store = sqlite_factory(sqlite::durability::normal).attach(file);
    store->open({}).declare(crowd_topic());
    {
        std::jthread reader([&](const std::stop_token& stop) { read_slowly(file, stop); });
        std::jthread checkpoints([&](const std::stop_token& stop) { checkpoint(file, stop); });
        std::vector<std::unique_ptr<child_process>> crowd;
        for (int i = 0; i < processes; ++i) {
            const child_arguments arguments{{"store", file}, {"book", book_path}};
            crowd.push_back(std::make_unique<child_process>("crowd-member", arguments));
        }
        for (const auto& one : crowd)
            EXPECT_EQ(one->wait(), 0);
    }
    EXPECT_EQ(store->open({}).depth("crowd").ready, 0U);
    std::map<std::string, int> published, handled;
    for (const auto& line : ledger::read(book_path)) {
        if (line.kind == 'P') ++published[line.id];
        if (line.kind == 'H') ++handled[line.id];
        if (line.kind == 'E') ADD_FAILURE() << line.id << ": " << testing::PrintToString(line.fields);
    }
    EXPECT_EQ(published.size(), static_cast<std::size_t>(messages));
    EXPECT_EQ(handled.size(), published.size()) << "lost";
    for (const auto& [id, times] : handled) {
        EXPECT_EQ(times, 1) << id << " was handled " << times << " times";
        EXPECT_TRUE(published.contains(id));
    }
}

}  // namespace
}  // namespace shove::testkit
