#include <shove/topology.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shove {
namespace {

using namespace std::chrono_literals;

auto made(const topology& spec) {
    return queue_topology::make(spec).value();
}

TEST(topology, derives_names) {
    const auto t = made(topology("orders").hold(5s).hold(1500ms).hold(300s).dlq());
    EXPECT_EQ(t->queue, "orders");
    EXPECT_EQ(t->dead_letter_queue, "orders-dlq");
    ASSERT_EQ(t->holds.size(), 3u);
    EXPECT_EQ(t->holds[0].queue, "orders-hold-5s");
    EXPECT_EQ(t->holds[1].queue, "orders-hold-1500ms");
    EXPECT_EQ(t->holds[2].queue, "orders-hold-300s");
    EXPECT_EQ(t->holds[1].delay, 1500ms);
}

TEST(topology, a_reader_group_has_names_of_its_own) {
    const auto t = made(topology("orders").for_consumer_group("mail").hold(5s).dlq());
    EXPECT_EQ(t->queue, "orders");
    EXPECT_EQ(t->reader_queue, "orders-mail");
    EXPECT_EQ(t->target_of({}), "orders");
    EXPECT_EQ(t->place_of({}), "orders-mail");
    EXPECT_EQ(t->dead_letter_queue, "orders-mail-dlq");
    EXPECT_EQ(t->holds[0].queue, "orders-mail-hold-5s");
    EXPECT_EQ(made(topology("orders").for_consumer_group("mail").dlq_named("grave"))->dead_letter_queue, "grave");
    EXPECT_EQ(made(topology("orders").dlq().for_consumer_group("mail"))->dead_letter_queue, "orders-mail-dlq");
}

TEST(topology, a_reader_group_of_a_sequenced_topic_has_shards_of_its_own) {
    const auto spec = topology("orders").sequenced(sequence_failure::skip).routing_shards(2).hold(1s).dlq();
    const auto base = made(spec);
    const auto t = made(spec.for_consumer_group("mail"));
    EXPECT_EQ(base->targets(), (std::vector<std::string>{"orders-seq-0", "orders-seq-1"}));
    EXPECT_EQ(base->places(), base->targets());
    EXPECT_EQ(t->targets(), base->targets());
    EXPECT_EQ(t->places(), (std::vector<std::string>{"orders-mail-seq-0", "orders-mail-seq-1"}));
    EXPECT_EQ(t->place_of(1), "orders-mail-seq-1");
}

TEST(topology, the_last_dead_letter_queue_counts) {
    EXPECT_EQ(made(topology("a").dlq_named("grave").dlq())->dead_letter_queue, "a-dlq");
    EXPECT_EQ(made(topology("a").dlq().dlq_named("grave"))->dead_letter_queue, "grave");
    EXPECT_EQ(made(topology("a"))->dead_letter_queue, "");
}

TEST(topology, sub_millisecond_parts_are_invisible) {
    EXPECT_EQ(made(topology("a").hold(1s + 500us))->holds[0].queue, "a-hold-1s");
}

TEST(topology, each_rule_is_found_and_explained) {
    const std::string too_long(201, 'q');
    auto many = topology("a").dlq();
    for (int i = 0; i < 17; ++i)
        many = many.hold(1s);
    const std::vector<std::pair<topology, topology_rule>> cases{
        {topology(""), topology_rule::name_empty},
        {topology(too_long), topology_rule::name_too_long},
        {topology("a b"), topology_rule::name_characters},
        {topology("caf\xc3\xa9"), topology_rule::name_characters},
        {topology("a").dlq_named("b\n"), topology_rule::name_characters},
        {topology("a").hold(0s), topology_rule::hold_not_positive},
        {topology("a").hold(-1s), topology_rule::hold_not_positive},
        {many, topology_rule::too_many_holds},
        {topology("a").dlq_named("a"), topology_rule::dlq_is_queue},
        {topology("a").for_consumer_group("  "), topology_rule::reader_group_blank},
        {topology("a").for_consumer_group("b c"), topology_rule::name_characters},
        {topology("a").for_consumer_group(too_long), topology_rule::name_too_long},
        {topology("a").for_consumer_group("dlq"), topology_rule::reader_group_taken},
        {topology("a").for_consumer_group("hold-5s"), topology_rule::reader_group_taken},
        {topology("a").for_consumer_group("seq-0"), topology_rule::reader_group_taken},
        {topology("a").for_consumer_group("b").dlq_named("a-b"), topology_rule::dlq_is_queue},
        {topology("a").broadcast().dlq(), topology_rule::broadcast_extras},
        {topology("a").broadcast().hold(1s), topology_rule::broadcast_extras},
        {topology("a").external().sequenced(sequence_failure::skip), topology_rule::external_sequenced},
        {topology("a").sequenced(sequence_failure::skip), topology_rule::sequenced_needs_dlq},
        {topology("a").sequenced(sequence_failure::skip).dlq(), topology_rule::sequenced_needs_dlq},
        {topology("a").sequenced(sequence_failure::skip).hold(1s).dlq().routing_shards(0), topology_rule::shards_zero},
        {topology("a").routing_shards(4), topology_rule::shards_unsequenced},
    };
    for (const auto& [spec, rule] : cases) {
        EXPECT_EQ(spec.violated(), rule) << describe(rule);
        const auto refused = queue_topology::make(spec);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error(), errc::invalid_topology);
        EXPECT_NE(refused.error().message().find(describe(rule)), std::string::npos);
        EXPECT_NE(refused.error().message().find("'" + std::string(spec.queue()) + "'"), std::string::npos);
    }
}

TEST(topology, loss_may_be_allowed) {
    EXPECT_EQ(topology("a").sequenced(sequence_failure::skip).allow_message_loss().violated(), topology_rule::none);
    EXPECT_TRUE(made(topology("a").broadcast())->allow_message_loss);
    EXPECT_FALSE(made(topology("a"))->allow_message_loss);
}

TEST(topology, the_order_of_steps_does_not_matter) {
    const auto t = made(topology("a").dlq().routing_shards(4).hold(1s).sequenced(sequence_failure::fail_all));
    ASSERT_TRUE(t->sequencing);
    EXPECT_EQ(t->sequencing->shards(), 4);
    EXPECT_EQ(t->sequencing->on_failure, sequence_failure::fail_all);
}

}  // namespace
}  // namespace shove
