#include <gmock/gmock.h>

#include "topology_difference.hpp"

namespace {

using namespace std::chrono_literals;
using namespace shove;
using cli::difference;
using kind = cli::difference::kind;

std::shared_ptr<const queue_topology> made(const topology& spec) {
    return queue_topology::make(spec).value();
}

spi::queue_info row(const std::string& name, const std::string& dead_letter_queue = {}) {
    return {name, {}, dead_letter_queue, 0};
}

std::vector<std::pair<kind, std::string>> brief(const std::vector<difference>& all) {
    std::vector<std::pair<kind, std::string>> made;
    for (const auto& each : all) {
        EXPECT_FALSE(each.text.empty());
        EXPECT_FALSE(each.remedy.empty());
        made.emplace_back(each.what, each.name);
    }
    return made;
}

using expected = std::vector<std::pair<kind, std::string>>;

TEST(topology_difference, nothing_is_there) {
    const auto spec = made(topology("q").hold(1s).dlq());
    EXPECT_EQ(brief(cli::compare({spec}, {}, false)),
              (expected{{kind::missing_queue, "q"}, {kind::missing_dead_letter_queue, "q-dlq"}}));
    EXPECT_TRUE(cli::compare({spec}, {row("q", "q-dlq"), row("q-dlq")}, false).empty());
}

TEST(topology_difference, hold_queues_count_where_the_broker_needs_them) {
    const auto spec = made(topology("q").hold(1s).hold(5s).dlq());
    const std::vector<spi::queue_info> there{row("q", "q-dlq"), row("q-dlq"), row("q-hold-1s")};
    EXPECT_TRUE(cli::compare({spec}, there, false).empty());
    EXPECT_EQ(brief(cli::compare({spec}, there, true)), (expected{{kind::missing_queue, "q-hold-5s"}}));
    EXPECT_TRUE(cli::leftovers({spec}, there, {}).empty());
}

TEST(topology_difference, the_dead_letter_queue_itself_may_be_missing) {
    const auto spec = made(topology("q").dlq());
    EXPECT_EQ(brief(cli::compare({spec}, {row("q", "q-dlq")}, false)),
              (expected{{kind::missing_dead_letter_queue, "q-dlq"}}));
    EXPECT_EQ(brief(cli::compare({spec}, {row("q"), row("q-dlq")}, false)),
              (expected{{kind::missing_dead_letter_queue, "q-dlq"}}));
}

TEST(topology_difference, another_place_for_dead_letters_is_told_once) {
    const auto spec =
        made(topology("q").hold(1s).dlq_named("graves").sequenced(sequence_failure::skip).routing_shards(2));
    const auto found = cli::compare({spec}, {row("q-dlq"), row("q-seq-0", "q-dlq"), row("q-seq-1", "q-dlq")}, false);
    ASSERT_EQ(brief(found), (expected{{kind::other_dead_letter_queue, "q"}}));
    EXPECT_EQ(found[0].declared, "graves");
    EXPECT_EQ(found[0].found, "q-dlq");
    EXPECT_FALSE(found[0].can_be_made());
}

TEST(topology_difference, a_single_shard_that_is_missing_can_be_made) {
    const auto spec = made(topology("q").hold(1s).dlq().sequenced(sequence_failure::skip).routing_shards(3));
    const auto found = cli::compare({spec}, {row("q-dlq"), row("q-seq-0", "q-dlq"), row("q-seq-2", "q-dlq")}, false);
    EXPECT_EQ(brief(found), (expected{{kind::missing_queue, "q-seq-1"}}));
}

TEST(topology_difference, names_that_only_look_like_shards) {
    const auto spec = made(topology("q").allow_message_loss().sequenced(sequence_failure::skip).routing_shards(1));
    const std::vector<spi::queue_info> there{row("q-seq-0"), row("q-seq-"), row("q-seq-x"), row("q-seq-99999999999")};
    EXPECT_TRUE(cli::compare({spec}, there, false).empty());
    EXPECT_EQ(cli::leftovers({spec}, {row("q-seq-0"), row("q-seq-x")}, {}), std::vector<std::string>{"q-seq-x"});
}

TEST(topology_difference, reader_groups_have_places_of_their_own) {
    const auto spec = made(topology("q").for_consumer_group("audit").dlq());
    EXPECT_EQ(brief(cli::compare({spec}, {row("q")}, false)),
              (expected{{kind::missing_queue, "q-audit"}, {kind::missing_dead_letter_queue, "q-audit-dlq"}}));
    EXPECT_TRUE(
        cli::compare({spec}, {row("q", "q-dlq"), row("q-audit", "q-audit-dlq"), row("q-audit-dlq")}, false).empty());
}

}  // namespace
