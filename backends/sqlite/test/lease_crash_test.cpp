// Four processes on one store of leases, killed at random moments: after each kill the file is whole, and in the end
// nothing that was confirmed is missing, or comes back after its end.

#include "sqlite_factory.hpp"

#include <shove/sqlite_leases.hpp>
#include <shove/testkit/child_process.hpp>
#include <shove/testkit/ledger.hpp>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace shove::testkit {
namespace {

using namespace std::chrono_literals;

constexpr int processes = 4;

/// A killed process leaves what the system has: the disk need not be waited for.
lease_broker open_file(const std::string& file) {
    sqlite_lease_config config;
    config.path = file;
    config.durability = sqlite::durability::normal;
    lease_options options;
    options.limits.retained_messages = 10'000'000;
    options.limits.attempts = 100;
    return open_sqlite_leases(config, options).value();
}

lease_message numbered(const std::string& key) {
    return {.topic = "crashes", .event_kind = "test.event", .idempotency_key = key, .payload = "body of " + key};
}

// Lines: T key (about to be published) · P key id (confirmed) · G id (got) · S id (about to be settled for good) ·
// A id (its end is confirmed).
void publish_on(const lease_broker& broker, const ledger& book, const std::string& name) {
    for (std::uint64_t i = 0;; ++i) {
        const auto key = name + "/" + std::to_string(i);
        book.note('T', key);
        book.note('P', key, broker.publish(numbered(key)).value().id.text());
    }
}

lease_settlement fate_of(const leased& what, std::minstd_rand& random) {
    switch (random() % 8) {
        case 0:
            return lease_settlement::retry(what.token, milliseconds(random() % 20), "test.again");
        case 1:
            return lease_settlement::dead_letter(what.token, "test.refused");
        case 2:
            return lease_settlement::extend(what.token, 1s);
        default:
            return lease_settlement::acknowledge(what.token);
    }
}

/// Settles what comes, in batches; what another process got after a lease of a second is not its own any more.
void settle_on(const lease_broker& broker, const ledger& book, unsigned seed) {
    std::minstd_rand random(seed);
    for (;;) {
        const auto got = broker
                             .receive({.topic = "crashes",
                                       .group = "readers",
                                       .consumer = "c",
                                       .max = 1 + random() % 20,
                                       .lease = 1s,
                                       .wait = 1s})
                             .value();
        std::vector<lease_settlement> fates;
        for (const auto& each : got) {
            book.note('G', each.envelope->id.text());
            const auto& fate = fates.emplace_back(fate_of(each, random));
            if (fate.what != lease_settlement::kind::extend) book.note('S', each.envelope->id.text());
        }
        if (fates.empty()) continue;
        const auto kinds = fates;
        const auto outcomes = broker.settle_batch(std::move(fates)).value();
        for (std::size_t i = 0; i < outcomes.size(); ++i) {
            const bool ended = outcomes[i] && (kinds[i].what == lease_settlement::kind::acknowledge ||
                                               outcomes[i]->what == lease_settled::state::dead_lettered);
            if (ended) book.note('A', got[i].envelope->id.text());
            const bool late = !outcomes[i] && (outcomes[i].error() == errc::unknown_lease ||
                                               outcomes[i].error() == errc::lease_expired);
            if (!outcomes[i] && !late) throw exception(outcomes[i].error());
        }
    }
}

int worker(backend_store&, const child_arguments& arguments) {
    const ledger book(arguments.at("book"));
    try {
        const auto broker = open_file(arguments.at("store"));
        const auto& name = arguments.at("name");
        const std::jthread settling(
            [&] { settle_on(broker, book, static_cast<unsigned>(std::hash<std::string>()(name))); });
        publish_on(broker, book, name);
    } catch (const std::exception& e) {
        std::string text = e.what();
        for (auto& c : text)
            if (c == ' ' || c == '\n') c = '_';
        book.note('E', text);
        std::_Exit(3);
    }
    return 0;
}

const bool role = add_child_role("lease-worker", worker);
const bool child = register_child_roles(sqlite_factory(sqlite::durability::normal));

std::string integrity_of(const std::string& file) {
    sqlite3* opened = nullptr;
    if (sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK) return "cannot be opened";
    const std::unique_ptr<sqlite3, int (*)(sqlite3*)> db(opened, sqlite3_close);
    sqlite3_busy_timeout(db.get(), 30'000);
    std::string found;
    const auto add = [](void* to, int, char** columns, char**) {
        *static_cast<std::string*>(to) += columns[0];
        return 0;
    };
    if (sqlite3_exec(db.get(), "PRAGMA integrity_check", add, &found, nullptr) != SQLITE_OK)
        found += sqlite3_errmsg(db.get());
    return found;
}

struct book_of_crashes {
    std::map<std::string, std::string> published;  // id by key
    std::set<std::string> tried, got, settling, ended;

    explicit book_of_crashes(const std::string& file) {
        for (const auto& line : ledger::read(file)) {
            if (line.kind == 'T') tried.insert(line.id);
            if (line.kind == 'P') published[line.id] = line.fields.at(0);
            if (line.kind == 'G') got.insert(line.id);
            if (line.kind == 'S') settling.insert(line.id);
            if (line.kind == 'A') ended.insert(line.id);
            if (line.kind == 'E') ADD_FAILURE() << "a process failed: " << line.id;
        }
    }
};

/// All that is left, once the leases of the dead have ended; each is acknowledged.
std::set<std::string> drain(const lease_broker& broker) {
    std::set<std::string> rest;
    for (;;) {
        const auto got = broker
                             .receive({.topic = "crashes",
                                       .group = "readers",
                                       .consumer = "heir",
                                       .max = 100,
                                       .lease = 60s,
                                       .wait = 2s})  // longer than a lease
                             .value();
        if (got.empty()) return rest;
        std::vector<lease_settlement> fates;
        for (const auto& each : got) {
            EXPECT_TRUE(rest.insert(each.envelope->id.text()).second) << "twice, though its lease went on";
            EXPECT_EQ(each.envelope->payload.substr(0, 8), "body of ");
            fates.push_back(lease_settlement::acknowledge(each.token));
        }
        for (const auto& outcome : broker.settle_batch(std::move(fates)).value())
            EXPECT_TRUE(outcome);
    }
}

std::set<std::string> dead_of(const lease_broker& broker) {
    std::set<std::string> dead;
    lease_dead_query query{.topic = "crashes", .group = "readers"};
    for (;;) {
        const auto page = broker.dead_letters(query).value();
        for (const auto& letter : page.letters)
            dead.insert(letter.envelope->id.text());
        if (!page.next) return dead;
        query.after = *page.next;
    }
}

void judge(const lease_broker& broker, const book_of_crashes& book) {
    // Who died while it published asks again: the same key gives the same message, or stores it now.
    for (const auto& key : book.tried) {
        const auto again = broker.publish(numbered(key));
        ASSERT_TRUE(again) << key << ": " << again.error().message();
        const auto known = book.published.find(key);
        if (known == book.published.end()) continue;
        EXPECT_TRUE(again->duplicate) << key << " was confirmed, and is gone";
        EXPECT_EQ(again->id.text(), known->second);
    }
    const auto rest = drain(broker);
    const auto dead = dead_of(broker);
    for (const auto& [key, id] : book.published)
        EXPECT_TRUE(book.got.contains(id) || rest.contains(id)) << key << " was confirmed, and never came";
    for (const auto& id : book.ended)
        EXPECT_FALSE(rest.contains(id)) << id << " came again after its end was confirmed";
    // Who dies between an end and the note of it leaves only the note that it was about to.
    for (const auto& [key, id] : book.published)
        EXPECT_TRUE(book.settling.contains(id) || rest.contains(id) || dead.contains(id)) << key << " has no end";
}

void kill_at(unsigned points) {
    const auto* text = std::getenv("SHOVE_CRASH_SEED");
    const auto seed = text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : std::random_device()();
    SCOPED_TRACE("SHOVE_CRASH_SEED=" + std::to_string(seed));
    std::minstd_rand random(seed);
    const scratch_folder folder("shove-lease-crashes");
    const auto file = (folder.path() / "leases.db").string();
    const auto book_path = (folder.path() / "book").string();
    (void)open_file(file).subscribe("crashes", "readers", lease_start::kind::earliest).value();
    unsigned started = 0;
    const auto start = [&] {
        const child_arguments arguments{
            {"store", file}, {"book", book_path}, {"name", "p" + std::to_string(started++)}};
        return std::make_unique<child_process>("lease-worker", arguments);
    };
    std::vector<std::unique_ptr<child_process>> crowd;
    for (int i = 0; i < processes; ++i)
        crowd.push_back(start());
    for (unsigned point = 0; point < points; ++point) {
        const auto moment = std::chrono::microseconds(1'000 + random() % 80'000);
        std::this_thread::sleep_for(moment);  // real time: it is a moment of death
        auto& victim = crowd[random() % processes];
        ASSERT_TRUE(victim->alive()) << "it ended by itself";
        victim->kill();
        ASSERT_EQ(integrity_of(file), "ok") << "after kill " << point;
        victim = start();
    }
    crowd.clear();
    ASSERT_EQ(integrity_of(file), "ok");
    const book_of_crashes book(book_path);
    std::cout << points << " kills, " << book.published.size() << " confirmed, " << book.ended.size() << " ended\n";
    EXPECT_GT(book.published.size(), 5U * points) << "too little was going on";
    EXPECT_GT(book.ended.size(), points) << "too little was going on";
    judge(open_file(file), book);
}

TEST(lease_crashes, few_points) {
    kill_at(25);
}

TEST(lease_crashes_long, many_points) {
    kill_at(500);
}

}  // namespace
}  // namespace shove::testkit
