#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lost_and_found.hpp"
#include "transaction.hpp"

/// What transactions and messages that come back are decided with. Pure.
namespace shove::rabbitmq_backend {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A batch of settlements of which some have copies.
class copies_for : public transaction_user {
public:
    explicit copies_for(std::vector<std::vector<std::string>> queues) {
        for (const auto& names : queues) {
            auto& made = parcels_.emplace_back();
            for (const auto& name : names) {
                parcel one;
                one.to = std::make_shared<const route>(route{.exchange = {}, .routing_key = name});
                made.push_back(std::move(one));
            }
        }
    }
    std::span<const parcel> copies(std::size_t index) const override { return parcels_[index]; }
    void committed(std::size_t) override {}
    void left_out(std::size_t) override {}
    void uncertain(std::size_t) override {}

private:
    std::vector<std::vector<parcel>> parcels_;
};

std::vector<departure> departures(const std::shared_ptr<transaction_user>& of, std::size_t count) {
    std::vector<departure> made(count);
    for (std::size_t i = 0; i < count; ++i) {
        made[i].tag = i + 1;
        made[i].of = of;
        made[i].index = i;
    }
    return made;
}

std::vector<std::uint64_t> tags(const std::vector<departure>& all) {
    std::vector<std::uint64_t> made;
    for (const auto& one : all)
        made.push_back(one.tag);
    return made;
}

TEST(transaction_test, looks_for_each_queue_once) {
    const auto batch =
        std::make_shared<copies_for>(std::vector<std::vector<std::string>>{{"dlq"}, {}, {"hold", "state"}, {"dlq"}});
    transaction it;
    EXPECT_FALSE(it.under_way());
    it.begin(departures(batch, 4));
    EXPECT_TRUE(it.under_way());
    EXPECT_THAT(it.targets(), ElementsAre("dlq", "hold", "state"));
}

TEST(transaction_test, a_commit_ends_all) {
    transaction it;
    it.begin(departures(std::make_shared<copies_for>(std::vector<std::vector<std::string>>{{"dlq"}, {}}), 2));
    const auto told = it.committed();
    EXPECT_THAT(tags(told.done), ElementsAre(1, 2));
    EXPECT_THAT(told.uncertain, IsEmpty());
    EXPECT_FALSE(it.under_way());
}

/// Also a copy for that queue which did not come back itself: it may have been stored before the queue went.
TEST(transaction_test, a_returned_copy_makes_all_for_its_queue_uncertain) {
    const auto batch =
        std::make_shared<copies_for>(std::vector<std::vector<std::string>>{{"dlq"}, {}, {"hold"}, {"state", "dlq"}});
    transaction it;
    it.begin(departures(batch, 4));
    it.returned("dlq");
    EXPECT_TRUE(it.misses_queues());
    const auto told = it.committed();
    EXPECT_THAT(tags(told.done), ElementsAre(2, 3));
    EXPECT_THAT(tags(told.uncertain), ElementsAre(1, 4));
    it.begin(departures(batch, 1));
    EXPECT_THAT(tags(it.committed().done), ElementsAre(1)) << "it is forgotten with its transaction";
}

TEST(transaction_test, a_lost_one_leaves_all_in_doubt) {
    transaction it;
    it.begin(departures(nullptr, 3));
    it.returned("dlq");
    EXPECT_THAT(tags(it.lost()), ElementsAre(1, 2, 3));
    EXPECT_FALSE(it.under_way());
    EXPECT_FALSE(it.misses_queues());
}

spi::settlement settled(spi::settlement_kind kind = spi::settlement_kind::complete) {
    spi::settlement made;
    made.kind = kind;
    return made;
}

TEST(lost_and_found_test, an_answer_is_for_one_copy_only) {
    lost_and_found it;
    it.remember("id", settled());
    EXPECT_FALSE(it.answer_for("id#7"));
    EXPECT_TRUE(it.answer_for("id"));
    EXPECT_FALSE(it.answer_for("id")) << "given once";
    EXPECT_TRUE(it.empty());
}

TEST(lost_and_found_test, a_new_message_of_a_name_is_not_answered) {
    lost_and_found it;
    it.remember("id", settled());
    it.is_new("id");
    EXPECT_FALSE(it.answer_for("id"));
}

TEST(lost_and_found_test, a_new_message_does_not_end_a_call) {
    lost_and_found it;
    it.lost("id");
    it.is_new("id");
    bool applied = false;
    EXPECT_TRUE(it.came_back("id", [&applied](spi::settlement&) { return applied = true; }));
    auto how = settled();
    EXPECT_TRUE(it.answered("id", how));
    EXPECT_TRUE(applied);
}

TEST(lost_and_found_test, nobody_has_no_name) {
    lost_and_found it;
    it.remember("", settled());
    EXPECT_TRUE(it.empty());
}

TEST(lost_and_found_test, forgets_the_oldest) {
    lost_and_found it(2);
    for (const auto* name : {"a", "b", "c"})
        it.remember(name, settled());
    EXPECT_FALSE(it.answer_for("a"));
    EXPECT_TRUE(it.answer_for("b"));
    EXPECT_TRUE(it.answer_for("c"));
}

}  // namespace
}  // namespace shove::rabbitmq_backend
