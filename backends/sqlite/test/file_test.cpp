// The file: who may use it, and what happens when it cannot be written.

#include "support.hpp"

#include "database.hpp"
#include "schema.hpp"

#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <thread>

namespace shove::sqlite_test {

namespace {

using kind = spi::settlement_kind;
using sqlite_backend::database;

struct file_test : testing::Test {
    scratch_folder folder;
    topology_ptr orders = plain_topology();

    void change(const char* sql) {
        database db({.path = folder.file()});
        db.run(sql);
        ASSERT_TRUE(db.ok()) << db.failure().message();
    }
};

spi::publish_report publish_bytes(client& c, const topology_ptr& to, std::size_t bytes) {
    spi::publish_request request;
    request.messages.push_back({text_message(std::string(bytes, 'x')), 0ms});
    return c.try_publish(to, std::move(request));
}

TEST_F(file_test, a_newer_schema_is_refused_with_both_versions) {
    { client made(folder.file()); }
    change("PRAGMA user_version = 7");
    const auto opened = client::try_open(folder.file());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error(), errc::version_mismatch);
    const auto text = opened.error().message();
    EXPECT_NE(text.find(folder.file().string()), std::string::npos);
    EXPECT_NE(text.find("version 7"), std::string::npos) << text;
    EXPECT_NE(text.find("up to " + std::to_string(sqlite_backend::schema_version)), std::string::npos) << text;
}

TEST_F(file_test, a_store_of_version_1_is_brought_forward_with_what_is_in_it) {
    {
        client made(folder.file());
        made.declare(orders);
        made.publish(orders, {"one", "two"});
        const auto sub = made.subscribe(orders);
        auto got = receive_all(*sub, 2);
        for (auto& each : got) {
            each.past = std::make_unique<spi::history>();
            each.past->retries = 3;
        }
        EXPECT_TRUE(settle(*sub, std::move(got), kind::delay).empty());
    }
    change(
        "DROP TABLE lease_store; DROP TABLE lease_key; DROP TABLE lease_message; DROP TABLE lease_delivery; "
        "DROP TABLE lease_group; DROP TABLE lease_topic; DROP TABLE lease_space");
    change(
        "DROP TABLE shard; DROP TABLE poisoned_key; ALTER TABLE history DROP COLUMN not_before; "
        "DROP TABLE feed; ALTER TABLE queue DROP COLUMN broadcast; PRAGMA user_version = 1");
    client again(folder.file());
    const auto sub = again.subscribe(orders);
    const auto got = receive_all(*sub, 2);
    ASSERT_EQ(got.size(), 2U);
    EXPECT_EQ(got.front().past->retries, 3U);
    database db({.path = folder.file()});
    EXPECT_EQ(db.number("PRAGMA user_version"), sqlite_backend::schema_version);
    EXPECT_EQ(db.number("SELECT count(*) FROM lease_space"), 0) << "made on the way";
}

TEST_F(file_test, another_applications_file_is_refused_and_not_touched) {
    change("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)");
    const auto before = std::filesystem::file_size(folder.file());
    const auto opened = client::try_open(folder.file());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error(), errc::invalid_argument);
    EXPECT_NE(opened.error().message().find("another application"), std::string::npos);
    EXPECT_EQ(std::filesystem::file_size(folder.file()), before);
    EXPECT_FALSE(std::filesystem::exists(folder.file("queue.db-owners")));
    database db({.path = folder.file()});
    EXPECT_EQ(db.text("PRAGMA journal_mode"), "delete");
}

TEST_F(file_test, a_file_that_is_no_database_is_refused) {
    std::ofstream(folder.file()) << std::string(10'000, 'z');
    const auto opened = client::try_open(folder.file());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error(), errc::storage_corrupt);
}

TEST_F(file_test, a_missing_folder_is_named) {
    const auto opened = client::try_open(folder.path() / "nowhere" / "queue.db");
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error(), errc::not_connected);
    EXPECT_NE(opened.error().message().find("nowhere"), std::string::npos);
}

TEST_F(file_test, eight_processes_open_a_new_file_at_once) {
    int gate[2];
    ASSERT_EQ(::pipe(gate), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
        const auto child = ::fork();
        if (child == 0) {
            ::close(gate[1]);
            char byte = 0;
            if (::read(gate[0], &byte, 1) != 0) ::_exit(2);
            try {
                client c(folder.file());
                c.declare(orders);
                c.publish(orders, {"x"});
            } catch (const std::exception& cause) {
                std::cerr << cause.what() << '\n';
                ::_exit(3);
            }
            ::_exit(testing::Test::HasFailure() ? 4 : 0);
        }
        children.push_back(child);
    }
    ::close(gate[1]);
    for (const auto child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    ::close(gate[0]);
    client c(folder.file());
    EXPECT_EQ(c.depth("orders").ready, 8u);
}

TEST_F(file_test, several_processes_share_the_work_and_double_nothing) {
    constexpr int processes = 4;
    constexpr int each = 200;
    { client(folder.file()).declare(orders); }
    std::vector<pid_t> children;
    for (int i = 0; i < processes; ++i) {
        const auto child = ::fork();
        if (child == 0) {
            int status = 0;
            {
                client c(folder.file());
                auto sub = c.subscribe(orders, 10);
                for (int k = 0; k < each; ++k)
                    c.publish(orders, {std::to_string(i * each + k)});
                for (int k = 0; k < each;) {
                    auto got = receive(*sub, static_cast<std::size_t>(std::min(10, each - k)));
                    k += static_cast<int>(got.size());
                    for (const auto& one : got)
                        status |= one.redelivered ? 1 : 0;
                    status |= settle(*sub, std::move(got), kind::complete).empty() ? 0 : 2;
                }
                status |= close(*sub) ? 8 : 0;
                status |= c.close() ? 16 : 0;
            }
            ::_exit(testing::Test::HasFailure() ? 64 : status);
        }
        children.push_back(child);
    }
    for (const auto child : children) {
        int status = 0;
        ::waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    client c(folder.file());
    const auto depth = c.depth("orders");
    EXPECT_EQ(depth.ready + depth.in_flight + depth.delayed, 0u);
    EXPECT_TRUE(c.browse("orders", 0, 10).empty());
}

TEST_F(file_test, a_full_disk_is_told_and_loses_nothing) {
    const auto disk = folder.path() / "disk";
    std::filesystem::create_directory(disk);
    if (::mount("shove-test", disk.c_str(), "tmpfs", 0, "size=1m") != 0) {
        GTEST_SKIP() << "needs the right to mount a small tmpfs (run as root)";
    }
    {
        client c(disk / "queue.db");
        c.declare(orders);
        std::uint64_t stored = 0;
        spi::publish_report report;
        for (int i = 0; i < 1000; ++i) {
            report = publish_bytes(c, orders, 10'000);
            if (!report.each.empty()) break;
            ++stored;
        }
        ASSERT_FALSE(report.each.empty());
        EXPECT_EQ(report.each[0].status, spi::publish_status::failed);
        EXPECT_EQ(report.each[0].cause, errc::storage_full) << report.each[0].cause.message();
        EXPECT_TRUE(is_retryable(report.each[0].cause.code));
        EXPECT_NE(report.each[0].cause.message().find("queue.db"), std::string::npos);
        EXPECT_EQ(c.depth("orders").ready, stored);
        ::mount("shove-test", disk.c_str(), "tmpfs", MS_REMOUNT, "size=8m");
        EXPECT_TRUE(publish_bytes(c, orders, 10'000).each.empty()) << "it goes on once there is room";
        auto sub = c.subscribe(orders, 1000);
        EXPECT_TRUE(settle(*sub, receive_all(*sub, stored + 1), kind::complete).empty());
        sub.reset();
        EXPECT_FALSE(c.close());
    }
    EXPECT_EQ(::umount(disk.c_str()), 0);
}

TEST_F(file_test, a_read_only_file_is_told) {
    { client(folder.file()).declare(orders); }
    std::filesystem::permissions(folder.file(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::others_read);
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
    const auto status = in_child([this] {
        if (::getuid() == 0 && ::seteuid(65'534) != 0) return 77;
        const auto opened = client::try_open(folder.file());
        if (opened) return 1;
        return opened.error() == errc::storage_read_only ? 0 : 2;
    });
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    if (status == 77) GTEST_SKIP() << "cannot give up root";
    EXPECT_EQ(status, 0);
}

TEST_F(file_test, a_writer_that_holds_the_file_is_waited_for) {
    client c(folder.file());
    c.declare(orders);
    database other({.path = folder.file()});
    other.run("BEGIN IMMEDIATE");
    ASSERT_TRUE(other.ok());
    outcome_of<spi::publish_report> answer;
    spi::publish_request request;
    request.messages.push_back({text_message("a"), 0ms});
    c.driver().publish(*orders, std::move(request), answer.callback());
    EXPECT_FALSE(answer.within(300ms));
    other.run("COMMIT");
    EXPECT_TRUE(answer.get().each.empty());
}

TEST_F(file_test, a_writer_that_never_lets_go_is_told_after_the_timeout) {
    client c(sqlite::config{.path = folder.file(), .busy_timeout = 200ms});
    c.declare(orders);
    {
        database other({.path = folder.file()});
        other.run("BEGIN IMMEDIATE");
        const auto report = publish_bytes(c, orders, 1);
        ASSERT_EQ(report.each.size(), 1u);
        EXPECT_EQ(report.each[0].status, spi::publish_status::failed);
        EXPECT_EQ(report.each[0].cause, errc::storage_busy);
        other.run("COMMIT");
    }
    EXPECT_TRUE(publish_bytes(c, orders, 1).each.empty());
    EXPECT_EQ(c.depth("orders").ready, 1u);
}

TEST_F(file_test, a_close_ends_at_its_deadline_though_the_file_is_held) {
    client c(folder.file());
    c.declare(orders);
    database other({.path = folder.file()});
    other.run("BEGIN IMMEDIATE");
    outcome_of<spi::publish_report> answer;
    spi::publish_request request;
    request.messages.push_back({text_message("a"), 0ms});
    c.driver().publish(*orders, std::move(request), answer.callback());
    const auto begun = std::chrono::steady_clock::now();
    EXPECT_EQ(c.close(200ms), errc::timed_out);
    EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
    const auto report = answer.get();
    ASSERT_EQ(report.each.size(), 1u);
    EXPECT_EQ(report.each[0].status, spi::publish_status::failed);
    other.run("COMMIT");
}

TEST_F(file_test, after_close_everything_is_refused) {
    client c(folder.file());
    c.declare(orders);
    auto sub = c.subscribe(orders);
    outcome_of<result<deliveries>> waiting;
    sub->receive(1, waiting.callback());
    EXPECT_FALSE(c.close());
    EXPECT_EQ(waiting.get().error(), errc::closed);
    EXPECT_EQ(publish_bytes(c, orders, 1).each[0].cause, errc::closed);
    outcome_of<result<deliveries>> later;
    sub->receive(1, later.callback());
    EXPECT_EQ(later.get().error(), errc::closed);
    EXPECT_FALSE(close(*sub));
    EXPECT_FALSE(c.close()) << "closing again is fine";
    EXPECT_FALSE(std::filesystem::exists(folder.file("queue.db-wal"))) << "the file alone is the queue";
}

TEST_F(file_test, a_long_reader_and_a_checkpoint_disturb_nobody) {
    client c(folder.file());
    c.declare(orders);
    c.publish(orders, {"a"});
    database reader({.path = folder.file()});
    reader.run("BEGIN; SELECT count(*) FROM message");
    std::thread checkpoints([this] {
        database other({.path = folder.file(), .busy_timeout = 10ms});
        for (int i = 0; i < 20; ++i) {
            other.run("PRAGMA wal_checkpoint(TRUNCATE)");
            other.clear_failure();
        }
    });
    for (int i = 0; i < 50; ++i)
        EXPECT_TRUE(publish_bytes(c, orders, 100'000).each.empty());
    checkpoints.join();
    reader.run("COMMIT");
    EXPECT_EQ(c.depth("orders").ready, 51u);
}

TEST_F(file_test, publishes_beyond_the_bound_wait_for_room_or_are_refused) {
    client c(sqlite::config{.path = folder.file(), .max_queued_publishes = 2});
    c.declare(orders);
    database other({.path = folder.file()});
    other.run("BEGIN IMMEDIATE");
    std::vector<outcome_of<spi::publish_report>> fits(2);
    for (auto& answer : fits) {
        spi::publish_request request;
        request.messages.push_back({text_message("a"), 0ms});
        c.driver().publish(*orders, std::move(request), answer.callback());
    }
    const auto publish_until = [&](steady_time deadline, outcome_of<spi::publish_report>& answer) {
        spi::publish_request request;
        request.messages.push_back({text_message("b"), 0ms});
        request.deadline = deadline;
        c.driver().publish(*orders, std::move(request), answer.callback());
    };
    outcome_of<spi::publish_report> at_once;
    outcome_of<spi::publish_report> soon;
    outcome_of<spi::publish_report> patient;
    publish_until({}, at_once);
    EXPECT_EQ(at_once.get().each.at(0).cause, errc::queue_full);
    publish_until(std::chrono::steady_clock::now() + 50ms, soon);
    EXPECT_EQ(soon.get().each.at(0).cause, errc::queue_full);
    publish_until(steady_time::max(), patient);
    EXPECT_FALSE(patient.within(50ms));
    other.run("COMMIT");
    EXPECT_TRUE(patient.get().each.empty());
    EXPECT_EQ(c.depth("orders").ready, 3u);
}

TEST_F(file_test, ping_answers_or_ends_at_its_deadline) {
    client c(folder.file());
    outcome_of<error> fine;
    c.driver().ping(std::chrono::steady_clock::now() + 10s, fine.callback());
    EXPECT_FALSE(fine.get());
    database other({.path = folder.file()});
    other.run("BEGIN IMMEDIATE");
    outcome_of<error> late;
    c.driver().ping(std::chrono::steady_clock::now() + 50ms, late.callback());
    EXPECT_EQ(late.get(), errc::timed_out);
    other.run("COMMIT");
}

}  // namespace

}  // namespace shove::sqlite_test
