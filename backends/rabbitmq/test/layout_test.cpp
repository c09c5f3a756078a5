// What a topology becomes on a server: names and settings that other programs, and the Rust library, know.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "layout.hpp"

namespace shove::rabbitmq_test {
namespace {

using namespace rabbitmq_backend;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsSupersetOf;

constexpr auto classic = rabbitmq::queue_type::classic;

layout laid_out(const topology& spec, rabbitmq::queue_type type = classic) {
    return layout_of(*queue_topology::make(spec).value(), type);
}

/// As `name(ttl)>exchange:key`, with a `*` for a single active consumer.
std::vector<std::string> queues(const layout& of) {
    std::vector<std::string> made;
    for (const auto& each : of.queues) {
        auto text = each.name + (each.single_active ? "*" : "");
        if (each.ttl) text += "(" + std::to_string(each.ttl->count()) + ")";
        if (each.dead_letter_key) text += ">" + each.dead_letter_exchange + ":" + *each.dead_letter_key;
        made.push_back(std::move(text));
    }
    return made;
}

std::vector<std::string> exchanges(const layout& of) {
    std::vector<std::string> made;
    for (const auto& each : of.exchanges)
        made.push_back(each.name + " " + each.type);
    return made;
}

std::vector<std::string> bindings(const layout& of) {
    std::vector<std::string> made;
    for (const auto& each : of.bindings)
        made.push_back(each.from + " -" + each.key + "-> " + each.to);
    return made;
}

TEST(layout_test, a_plain_topic) {
    const auto made = laid_out(topology("q").hold(5s).hold(1500ms).dlq());
    EXPECT_THAT(queues(made), IsSupersetOf({"q>:q-dlq", "q-hold-5s(5000)>:q", "q-hold-1500ms(1500)>:q", "q-dlq"}));
    EXPECT_THAT(exchanges(made), ElementsAre("q-readers fanout"));
    EXPECT_THAT(bindings(made), ElementsAre("q-readers -q-> q"));
    EXPECT_THAT(queues(laid_out(topology("q"))), IsSupersetOf({"q"}));
}

TEST(layout_test, a_sequenced_topic) {
    const auto made = laid_out(topology("q").hold(1s).dlq().sequenced(sequence_failure::skip).routing_shards(2));
    EXPECT_THAT(queues(made), ElementsAre("q-seq-0*>:q-dlq", "q-seq-0-state*", "q-seq-0-poisoned", "q-seq-1*>:q-dlq",
                                          "q-seq-1-state*", "q-seq-1-poisoned", "q-dlq"));
    EXPECT_THAT(exchanges(made), ElementsAre("q-readers fanout", "q-seq-hash x-consistent-hash"));
    EXPECT_THAT(bindings(made),
                ElementsAre("q-seq-hash -1-> q-seq-0", "q-seq-hash -1-> q-seq-1", "q-readers --> q-seq-hash"));
}

TEST(layout_test, a_broadcast) {
    const auto made = laid_out(topology("q").broadcast());
    EXPECT_THAT(exchanges(made), ElementsAre("q-fanout fanout"));
    EXPECT_TRUE(made.queues.empty());
}

TEST(layout_test, quorum_queues_are_not_told_where_rejected_messages_go) {
    const auto made = laid_out(topology("q").hold(5s).dlq(), rabbitmq::queue_type::quorum);
    EXPECT_THAT(queues(made), IsSupersetOf({"q", "q-hold-5s(5000)>:q", "q-dlq"}));
}

}  // namespace
}  // namespace shove::rabbitmq_test
