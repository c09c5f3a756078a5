#include "crash_notes.hpp"
#include "rabbitmq_server.hpp"

#include <shove/rabbitmq.hpp>
#include <shove/testkit/events.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What processes tell each other of messages that came back.
namespace shove::rabbitmq_backend {
namespace {

using namespace std::chrono_literals;
using rabbitmq_test::rabbitmq_server;
using rabbitmq_test::vhost;
using testing::IsEmpty;

/// One process's end of the notes of the queue `orders`.
struct process {
    explicit process(const vhost& host)
        : settings(std::make_shared<const rabbitmq::config>(rabbitmq::parse(host.url()).value())),
          asking(std::make_shared<control>(settings)),
          publishing(std::make_shared<outlet>(settings)),
          notes(std::make_shared<crash_notes>(asking, publishing, "orders")) {}
    process(const process&) = delete;
    process& operator=(const process&) = delete;
    ~process() {
        asking->shut();
        publishing->shut();
        asking->finish();
        publishing->finish();
    }

    void write_alone(const std::string& id) const {
        const testkit::gate written;
        notes->alone(id, 0, [written](const error&) { written.open(); });
        ASSERT_TRUE(written.pass());
    }
    void give_back(const std::vector<std::string>& ids) const {
        const testkit::gate written;
        notes->give_back({.innocent = ids}, 10s, [written] { written.open(); });
        ASSERT_TRUE(written.pass());
    }
    void take(const std::vector<std::string>& ids) const {
        const testkit::gate written;
        notes->take(ids, [written] { written.open(); });
        ASSERT_TRUE(written.pass());
    }
    findings read() const {
        const testkit::recorder<findings> found;
        notes->read([found](std::optional<findings> all) { found.add(std::move(all).value()); });
        return found.wait(1, "the notes").front();
    }

    std::shared_ptr<const rabbitmq::config> settings;
    std::shared_ptr<control> asking;
    std::shared_ptr<outlet> publishing;
    std::shared_ptr<crash_notes> notes;
};

class rabbitmq_notes : public testing::Test {
protected:
    rabbitmq_notes() { host_.declare_queue("orders-notes"); }
    const rabbitmq_server server_;
    const vhost host_{server_};
};

/// After a cut all processes have messages that came back. Each must get all notes, and soon.
TEST_F(rabbitmq_notes, are_read_whole_by_several_processes_at_once) {
    constexpr std::size_t many = 700;  // the server does not send so many at a time
    const process writer(host_);
    for (std::size_t n = 0; n < many; ++n)
        writer.write_alone("m" + std::to_string(n));
    const std::array readers{process(host_), process(host_), process(host_), process(host_)};
    for (const auto& each : readers)
        (void)each.read();  // connects
    const testkit::recorder<std::size_t> sizes;
    const auto begin = std::chrono::steady_clock::now();
    for (const auto& each : readers)
        each.notes->read([sizes](const std::optional<findings>& all) { sizes.add(all.value().size()); });
    EXPECT_THAT(sizes.wait(readers.size(), "the notes"), testing::Each(many));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 4s);
}

/// What a later note makes needless goes when somebody reads: else each reader would read a day's notes each time.
TEST_F(rabbitmq_notes, of_calls_that_ended_go) {
    const process one(host_);
    for (int n = 0; n < 10; ++n) {
        one.write_alone("m" + std::to_string(n));
        one.notes->ended("m" + std::to_string(n));
    }
    one.write_alone("last");
    EXPECT_EQ(one.read().at("last").crashes, 1U);
    const auto left = one.read();
    EXPECT_EQ(left.size(), 1U);
    EXPECT_EQ(left.at("last").crashes, 1U);
    EXPECT_EQ(host_.counts("orders-notes").ready, 1U);
}

/// Whoever began a message that was given back before is told of as before.
TEST_F(rabbitmq_notes, of_calls_that_ended_stay_where_an_earlier_one_would_count_again) {
    const process one(host_);
    one.give_back({"m", "n"});
    EXPECT_TRUE(one.read().at("m").given_back);
    one.write_alone("m");
    one.notes->ended("m");
    one.write_alone("other");
    EXPECT_FALSE(one.read().at("m").given_back);
    EXPECT_FALSE(one.read().at("m").given_back);
    EXPECT_EQ(one.read().at("m").crashes, 0U);
}

/// Given back, a message is innocent for one process; and who lost a suspect with its channel says so, too.
TEST_F(rabbitmq_notes, clear_once_and_keep_counts) {
    const process one(host_);
    const process other(host_);
    one.give_back({"m", "n"});
    EXPECT_TRUE(other.read().at("m").given_back);
    other.take({"m"});
    other.write_alone("s");
    const testkit::gate written;
    other.notes->give_back({.innocent = {}, .suspects = {{"s", 1}}, .missed = {"x"}}, 10s,
                           [written] { written.open(); });
    ASSERT_TRUE(written.pass());
    for (int n = 0; n < 2; ++n) {
        const auto all = one.read();
        EXPECT_FALSE(all.at("m").given_back);
        EXPECT_TRUE(all.at("n").given_back);
        EXPECT_EQ(all.at("s").crashes, 1U);
        EXPECT_TRUE(all.at("x").missed);
    }
    one.take({"n"});
    (void)one.read();
    EXPECT_EQ(host_.counts("orders-notes").ready, 2U);
}

}  // namespace
}  // namespace shove::rabbitmq_backend
