#include <shove/testkit/events.hpp>
#include <shove/trace.hpp>

#include "lease_stage.hpp"

namespace shove::testkit {
namespace {

/// A broker with so many messages, the first `dead` of them given up.
lease_broker with_dead(lease_stage& on, std::size_t all, std::size_t dead) {
    auto broker = on.open();
    subscribe(broker);
    std::vector<lease_message> batch;
    for (std::size_t i = 0; i < all; ++i)
        batch.push_back(message_of(std::to_string(i), "body " + std::to_string(i)));
    broker.publish_batch(batch).value();
    std::vector<lease_settlement> given_up;
    while (given_up.size() < dead) {
        for (const auto& each : receive(broker, std::min<std::size_t>(100, dead - given_up.size())))
            given_up.push_back(lease_settlement::dead_letter(each.token, "no.good"));
    }
    broker.settle_batch(given_up).value();
    return broker;
}

void listed(lease_stage& on) {
    const auto broker = with_dead(on, 3, 2);
    const auto page = broker.dead_letters({"events", "mailers", 100, 0}).value();
    EXPECT_FALSE(page.next);
    ASSERT_EQ(sequences(page.letters), (std::vector<std::uint64_t>{1, 2}));
    EXPECT_EQ(page.letters[0].code, "no.good");
    EXPECT_EQ(page.letters[0].group, "mailers");
    EXPECT_EQ(page.letters[0].attempts, 1U);
    EXPECT_EQ(page.letters[0].envelope->payload, "body 0");
}

void cursor_sees_all(lease_stage& on) {
    const auto broker = with_dead(on, 250, 250);
    EXPECT_EQ(dead(broker).size(), 100U) << "exactly the limit";
    std::vector<std::uint64_t> seen;
    lease_dead_query query{"events", "mailers", 7, 0};
    for (;;) {
        const auto page = broker.dead_letters(query).value();
        for (const auto number : sequences(page.letters))
            seen.push_back(number);
        if (!page.next) break;
        query.after = *page.next;
    }
    ASSERT_EQ(seen.size(), 250U);
    for (std::size_t i = 0; i < seen.size(); ++i)
        EXPECT_EQ(seen[i], i + 1);
}

void redriven_by_limit(lease_stage& on) {
    const auto broker = with_dead(on, 5, 4);
    EXPECT_EQ(broker.redrive({"events", "mailers", {}, 3}).value(), 3U);
    const auto got = receive(broker);
    EXPECT_EQ(sequences(got), (std::vector<std::uint64_t>{1, 2, 3, 5}));
    EXPECT_EQ(got[0].attempt, 1U) << "counted from the start";
    EXPECT_EQ(sequences(dead(broker)), std::vector<std::uint64_t>{4});
}

void redriven_by_number(lease_stage& on) {
    const auto broker = with_dead(on, 4, 3);
    EXPECT_EQ(broker.redrive({"events", "mailers", {2, 4, 99, 2}, 100}).value(), 1U) << "only 2 is a dead letter";
    EXPECT_EQ(sequences(receive(broker)), (std::vector<std::uint64_t>{2, 4}));
    EXPECT_EQ(sequences(dead(broker)), (std::vector<std::uint64_t>{1, 3}));
}

void purged_after_both_groups(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker, lease_start::kind::latest, "a");
    subscribe(broker, lease_start::kind::latest, "b");
    publish(broker, "k");
    ASSERT_TRUE(broker.acknowledge(receive_one(broker, "a").token));
    const auto held = receive_one(broker, "b");
    EXPECT_EQ(broker.purge("events", 10).value(), 0U);
    ASSERT_TRUE(broker.dead_letter(held.token, "bad"));
    EXPECT_EQ(broker.purge("events", 10).value(), 1U) << "a dead letter is finished";
    EXPECT_TRUE(dead(broker, "b").empty());
    EXPECT_EQ(broker.stats().value().retained, 0U);
}

void purge_takes_exactly_its_limit(lease_stage& on) {
    const auto broker = with_dead(on, 6, 4);
    EXPECT_EQ(broker.purge("events", 3).value(), 3U);
    EXPECT_EQ(sequences(dead(broker)), std::vector<std::uint64_t>{4}) << "lowest first";
    EXPECT_EQ(broker.purge("events", 1000).value(), 1U) << "what waits is never purged";
    EXPECT_EQ(sequences(receive(broker)), (std::vector<std::uint64_t>{5, 6}));
    EXPECT_EQ(broker.purge("events", 1000).value(), 0U) << "nor what is leased";
}

void purge_passes_by_what_is_held(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    for (const auto* key : {"1", "2", "3"})
        publish(broker, key);
    const auto got = receive(broker);
    ASSERT_TRUE(broker.acknowledge(got[0].token));
    ASSERT_TRUE(broker.acknowledge(got[2].token));
    EXPECT_EQ(broker.purge("events", 10).value(), 2U);
    ASSERT_TRUE(broker.retry(got[1].token, 0ms, "again"));
    EXPECT_EQ(receive_one(broker).envelope->sequence, 2U);
    EXPECT_EQ(subscribe(broker, lease_start::kind::earliest, "new").pending, 1U);
    EXPECT_EQ(sequences(receive(broker, 10, "new")), std::vector<std::uint64_t>{2}) << "gaps are passed over";
}

void skipped_history_is_purgeable(lease_stage& on) {
    const auto broker = on.open();
    publish(broker, "1");
    EXPECT_EQ(broker.purge("events", 10).value(), 0U) << "a topic without groups keeps all";
    subscribe(broker, lease_start::kind::latest);
    EXPECT_EQ(broker.purge("events", 10).value(), 1U);
}

/// Lets seconds pass until only so many are left: a store may remove them on a thread of its own.
void pass_until_retained(lease_stage& on, const lease_broker& broker, std::uint64_t left) {
    for (int tries = 0; broker.stats().value().retained > left; ++tries) {
        if (tries == 1'000) throw impatience("messages that should go by themselves");
        on.pass(1s);
    }
}

void retained_by_age(lease_stage& on) {
    lease_options options;
    options.retention.age = milliseconds(60'000);
    const auto broker = on.open(options);
    subscribe(broker);
    publish(broker, "finished");
    publish(broker, "dead");
    publish(broker, "waiting");
    const auto got = receive(broker, 2);
    ASSERT_TRUE(broker.acknowledge(got[0].token));
    ASSERT_TRUE(broker.dead_letter(got[1].token, "bad"));
    ASSERT_TRUE(broker.publish(message_of("alone", "x", "without.groups")));
    on.pass(59s);
    EXPECT_EQ(broker.stats().value().retained, 4U);
    on.pass(1s);
    pass_until_retained(on, broker, 2);
    EXPECT_EQ(dead(broker).size(), 1U) << "no dead letter goes by itself";
    EXPECT_EQ(receive(broker).size(), 1U);
    EXPECT_FALSE(publish(broker, "finished").duplicate) << "the key went with its message";
}

void retained_by_size(lease_stage& on) {
    lease_options options;
    options.retention.payload_bytes = 2'500;
    const auto broker = on.open(options);
    subscribe(broker);
    for (const auto* key : {"1", "2", "3", "4", "5"})
        publish(broker, key, std::string(1'000, 'x'));
    std::vector<lease_settlement> all;
    for (const auto& each : receive(broker))
        all.push_back(lease_settlement::acknowledge(each.token));
    broker.settle_batch(all).value();
    pass_until_retained(on, broker, 2);
    on.pass(10s);
    const auto left = broker.stats().value();
    EXPECT_EQ(left.retained, 2U) << "no more than needed";
    EXPECT_EQ(left.topics.at(0).next_sequence, 6U);
}

trace_context some_trace() {
    return parse_trace("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "vendor=value").value();
}

void trace_survives(lease_stage& on) {
    const auto broker = on.open();
    subscribe(broker);
    auto message = message_of("k");
    write_trace(message.headers, some_trace());
    ASSERT_TRUE(broker.publish(message));
    const auto got = receive_one(broker);
    EXPECT_EQ(read_trace(got.envelope->headers).value(), some_trace());
}

void trace_is_checked(lease_stage& on) {
    const auto broker = on.open();
    const auto refused = [&](std::string_view parent, std::string_view state) {
        auto message = message_of("k");
        if (!parent.empty()) message.headers.add("traceparent", parent);
        if (!state.empty()) message.headers.add("tracestate", state);
        EXPECT_EQ(code_of(broker.publish(message)), errc::invalid_argument) << parent << ' ' << state;
    };
    const std::string good = some_trace().parent();
    refused("zz", "");
    refused("00-00000000000000000000000000000000-00f067aa0ba902b7-01", "");
    refused("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", "");
    refused("00-4BF92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "");
    refused("01" + good.substr(2), "");
    refused("00_" + good.substr(3), "");
    refused("", "vendor=value");
    refused(good, "a=1,a=2");
    refused(good, "a=" + std::string(511, 'x'));
    std::string members = "k0=v";
    for (int i = 1; i < 32; ++i)
        members += ",k" + std::to_string(i) + "=v";
    refused(good, members + ",last=v");
    auto message = message_of("k");
    message.headers.add("traceparent", good).add("tracestate", members);
    EXPECT_TRUE(broker.publish(message)) << "32 members are not too many";
    message.headers.add("traceparent", good);
    EXPECT_EQ(code_of(broker.publish(message)), errc::invalid_argument) << "attached twice";
}

}  // namespace

void add_lease_dead_cases(std::vector<lease_case>& into) {
    into.insert(into.end(), {{"dead", "listed", listed},
                             {"dead", "cursor_sees_all", cursor_sees_all},
                             {"dead", "redriven_by_limit", redriven_by_limit},
                             {"dead", "redriven_by_number", redriven_by_number},
                             {"purge", "after_both_groups", purged_after_both_groups},
                             {"purge", "takes_exactly_its_limit", purge_takes_exactly_its_limit},
                             {"purge", "passes_by_what_is_held", purge_passes_by_what_is_held},
                             {"purge", "skipped_history", skipped_history_is_purgeable},
                             {"retention", "by_age", retained_by_age},
                             {"retention", "by_size", retained_by_size},
                             {"trace", "survives", trace_survives},
                             {"trace", "is_checked", trace_is_checked}});
}

}  // namespace shove::testkit
