#include "driver_fixture.hpp"

// A dead letter is stored before its original goes, whatever the room.
namespace {

using namespace inprocess_test;

using failures = std::vector<spi::failed_settlement>;

class dead_letters : public driver_fixture {
protected:
    std::vector<spi::delivery> with_reason(std::vector<spi::delivery> batch, const std::string& reason) {
        for (auto& d : batch) {
            d.past = std::make_unique<spi::history>();
            d.past->death_reason = reason;
        }
        return batch;
    }
};

TEST_F(dead_letters, move_with_their_history) {
    put({"a", "b"});
    auto sub = subscribe();
    settle(*sub, with_reason(get(*sub), "rejected"), dead_letter);
    EXPECT_EQ(depth().in_flight, 0u);
    auto dlq = subscribe(10, true);
    auto dead = get(*dlq);
    EXPECT_EQ(bodies_of(dead), (bodies{"a", "b"}));
    EXPECT_EQ(dead[0].past->death_reason, "rejected");
    EXPECT_EQ(dead[0].deliveries, 1u);
    EXPECT_FALSE(dead[0].redelivered);
}

TEST_F(dead_letters, go_with_other_settlements_in_one_batch) {
    put({"a", "b", "c", "d"});
    auto sub = subscribe();
    auto batch = get(*sub);
    std::vector<spi::settlement> mixed;
    mixed.push_back(decide(std::move(batch[0]), dead_letter));
    mixed.push_back(decide(std::move(batch[1]), complete));
    mixed.push_back(decide(std::move(batch[2]), release));
    mixed.push_back(decide(std::move(batch[3]), delay_it, 1s));
    box<failures> done;
    sub->settle(std::move(mixed), done.sink());
    EXPECT_TRUE(done.value().empty());
    const auto d = depth();
    EXPECT_EQ(d.ready, 1u);
    EXPECT_EQ(d.delayed, 1u);
    EXPECT_EQ(d.in_flight, 0u);
    EXPECT_EQ(depth("jobs-dlq").ready, 1u);
}

TEST_F(dead_letters, wait_for_room_and_hold_the_original_until_then) {
    reopen({.capacity = 2});
    auto sub = subscribe();
    put({"a", "b"});
    settle(*sub, get(*sub), dead_letter);
    put({"c", "d"});
    box<failures> done;
    auto batch = get(*sub);
    std::vector<spi::settlement> mixed;
    mixed.push_back(decide(std::move(batch[0]), dead_letter));
    mixed.push_back(decide(std::move(batch[1]), complete));
    sub->settle(std::move(mixed), done.sink());
    EXPECT_FALSE(done.ready());
    EXPECT_EQ(depth().in_flight, 1u);
    auto dlq = subscribe(10, true);
    settle(*dlq, get(*dlq, 1), complete);
    ASSERT_TRUE(done.ready());
    EXPECT_TRUE(done.value().empty());
    EXPECT_EQ(depth().in_flight, 0u);
    EXPECT_EQ(bodies_of(get(*dlq)), (bodies{"b", "c"}));
}

TEST_F(dead_letters, come_back_to_the_engine_when_no_room_appears) {
    reopen({.capacity = 2});
    auto sub = subscribe();
    put({"a"});
    settle(*sub, get(*sub), dead_letter);
    put({"b", "c"});
    box<failures> done;
    sub->settle(decide_all(with_reason(get(*sub), "rejected"), dead_letter), done.sink());
    EXPECT_FALSE(done.ready());
    clock->advance(1s);
    ASSERT_TRUE(done.ready());
    ASSERT_EQ(done.value().size(), 1u);
    auto& failed = done.value()[0];
    EXPECT_EQ(failed.cause, errc::queue_full);
    EXPECT_TRUE(shove::is_retryable(failed.cause.code));
    EXPECT_EQ(body_of(failed.what.item.msg), "c");
    EXPECT_EQ(failed.what.item.past->death_reason, "rejected");
    EXPECT_EQ(failed.what.kind, dead_letter);
    EXPECT_EQ(depth().in_flight, 1u);
    std::vector<spi::delivery> back;
    back.push_back(std::move(failed.what.item));
    settle(*sub, std::move(back), release);
    EXPECT_EQ(depth().ready, 1u);
}

TEST_F(dead_letters, are_handed_to_a_waiting_reader_at_once) {
    put({"a"});
    auto sub = subscribe(), dlq = subscribe(10, true);
    box<received> got;
    dlq->receive(10, got.sink());
    settle(*sub, get(*sub), dead_letter);
    EXPECT_EQ(bodies_of(got.value().value()), bodies{"a"});
}

TEST_F(dead_letters, make_their_queue_where_it_is_missing) {
    const auto plain = make(shove::topology("jobs2"));
    declare(plain);
    topology = make(shove::topology("jobs2").dlq_named("graves"));
    put({"a"});
    auto sub = subscribe();
    settle(*sub, get(*sub), dead_letter);
    EXPECT_EQ(depth("graves").ready, 1u);
}

TEST_F(dead_letters, without_a_queue_for_them_are_refused) {
    topology = make(shove::topology("plain"));
    declare(topology);
    put({"a"});
    auto sub = subscribe();
    box<failures> done;
    sub->settle(decide_all(get(*sub), dead_letter), done.sink());
    ASSERT_EQ(done.value().size(), 1u);
    EXPECT_EQ(done.value()[0].cause, errc::invalid_argument);
    EXPECT_EQ(body_of(done.value()[0].what.item.msg), "a");
    EXPECT_EQ(depth("plain").in_flight, 1u);
}

TEST_F(dead_letters, of_the_dead_letter_queue_itself_go_to_its_end) {
    put({"a", "b"});
    auto sub = subscribe();
    settle(*sub, get(*sub), dead_letter);
    auto dlq = subscribe(10, true);
    settle(*dlq, get(*dlq, 1), dead_letter);
    EXPECT_EQ(bodies_of(get(*dlq)), (bodies{"b", "a"}));
}

TEST_F(dead_letters, that_wait_come_back_when_the_driver_closes) {
    reopen({.capacity = 1});
    auto sub = subscribe();
    put({"a"});
    settle(*sub, get(*sub), dead_letter);
    put({"b"});
    box<failures> done;
    sub->settle(decide_all(get(*sub), dead_letter), done.sink());
    close();
    ASSERT_EQ(done.value().size(), 1u);
    EXPECT_EQ(done.value()[0].cause, errc::closed);
    EXPECT_EQ(body_of(done.value()[0].what.item.msg), "b");
}

TEST_F(dead_letters, that_wait_keep_their_subscription_alive) {
    reopen({.capacity = 1});
    auto sub = subscribe();
    put({"a"});
    settle(*sub, get(*sub), dead_letter);
    put({"b"});
    box<failures> done;
    sub->settle(decide_all(get(*sub), dead_letter), done.sink());
    sub.reset();
    auto dlq = subscribe(10, true);
    settle(*dlq, get(*dlq), complete);
    EXPECT_TRUE(done.value().empty());
    EXPECT_EQ(depth().in_flight, 0u);
}

}  // namespace
