#include <shove/audit.hpp>

#include "engine_fixture.hpp"

namespace shove::test {
namespace {

class engine_audit : public engine_test {
protected:
    recorder<audit_record> records;

    std::shared_ptr<audit_trail> keeping() {
        return std::make_shared<audit_trail>([records = records](std::span<const audit_record> all) {
            for (const auto& record : all)
                records.add(record);
        });
    }
    void deliver(std::string_view body, const headers& list) {
        message_parts parts;
        parts.id = "the-id";
        parts.payload = std::as_bytes(std::span(body));
        parts.headers = list;
        spi::delivery one;
        one.msg = message::make(parts);
        one.deliveries = 4;
        driver().deliver(std::move(one));
    }
};

TEST_F(engine_audit, writes_down_what_a_call_did) {
    spi::history old;
    start(
        [with = clock](std::span<const std::byte>, const delivery&) {
            with->advance(17ms);
            return retry;
        },
        {.audit = keeping()});
    deliver("{\"n\":1}", headers{{"tenant", "a"}, {"x-trace-id", "my-trace"}});
    const auto record = records.wait(1, "a record").front();
    EXPECT_EQ(record.trace_id, "my-trace");
    EXPECT_EQ(record.topic, "orders");
    EXPECT_EQ(record.payload, "{\"n\":1}");
    EXPECT_EQ(record.delivery_id, "the-id");
    EXPECT_EQ(record.retry_count, 0U);
    EXPECT_EQ(record.delivery_count, 4U);
    EXPECT_FALSE(record.redelivered);
    EXPECT_EQ(record.outcome, outcome_kind::retry);
    EXPECT_EQ(record.duration, 17ms);
    EXPECT_EQ(record.headers.view().text("tenant"), "a");
}

TEST_F(engine_audit, every_outcome_of_every_call) {
    std::atomic<int> next{0};
    start(
        [&](std::span<const std::byte>, const delivery&) -> outcome {
            switch (next++) {
                case 0:
                    return ack;
                case 1:
                    return reject;
                case 2:
                    return defer;
                default:
                    throw std::runtime_error("broken");
            }
        },
        consumer_options{.audit = keeping()}.sequential());
    for (int i = 0; i < 4; ++i)
        driver().deliver("body");
    std::vector<outcome_kind> kinds;
    for (const auto& record : records.wait(4, "the records"))
        kinds.push_back(record.outcome);
    EXPECT_EQ(kinds, (std::vector{outcome_kind::ack, outcome_kind::reject, outcome_kind::defer, outcome_kind::retry}));
    EXPECT_FALSE(records.all().front().trace_id.empty()) << "made up where there is none";
}

TEST_F(engine_audit, what_no_handler_saw_is_not_written_down) {
    start(always(ack), {.max_message_bytes = 3, .audit = keeping()});
    driver().deliver("too large");
    driver().deliver("ok");
    wait_settled();
    (void)group().stop(1h);
    EXPECT_EQ(records.size(), 1U);
}

TEST_F(engine_audit, a_writer_that_throws_changes_nothing) {
    measured = std::make_shared<shove::metrics>();
    start(always(ack), {.audit = std::make_shared<audit_trail>(
                            [](std::span<const audit_record>) { throw std::runtime_error("no disk"); })});
    driver().deliver("body");
    driver().settled().wait(1, "the settlement");
    EXPECT_EQ(driver().settled().all().front().kind, settlement_kind::complete);
    eventually("the event", [&] {
        const auto names = happened.all();
        return std::ranges::find(names, "audit_failed") != names.end();
    });
    eventually("the count", [&] { return measured->value("audit_records_total", {"scripted", "failed"}) == 1; });
}

TEST_F(engine_audit, a_writer_that_hangs_changes_nothing_and_what_is_dropped_is_counted) {
    measured = std::make_shared<shove::metrics>();
    const gate hold;
    auto trail = std::make_shared<audit_trail>([hold](std::span<const audit_record>) { hold.arrive(); },
                                               audit_options{.max_records = 2});
    const opens_at_exit opener(hold);
    start(always(ack), {.audit = trail});
    for (int i = 0; i < 10; ++i)
        driver().deliver("body");
    driver().settled().wait(10, "the settlements");
    for (const auto& item : driver().settled().all())
        EXPECT_EQ(item.kind, settlement_kind::complete);
    EXPECT_EQ(trail->counts().dropped, 8U);
    EXPECT_EQ(measured->value("audit_records_total", {"scripted", "dropped"}), 8);
    EXPECT_EQ(std::ranges::count(happened.all(), "audit_dropped"), 8);
}

TEST_F(engine_audit, a_stop_waits_for_a_writer_that_hangs_once_and_not_for_each_shard) {
    can.key_order = true;
    const gate hold;
    const auto trail = std::make_shared<audit_trail>([hold](std::span<const audit_record>) { hold.arrive(); });
    const opens_at_exit opener(hold);
    EXPECT_TRUE(trail->add({}));
    hold.arrivals().wait(1, "the writer");
    auto made = broker().consumer_group({.audit = trail});
    made.add(topic(shove::topology("orders").hold(1s).dlq().sequenced(sequence_failure::skip)), always(ack));
    made.start();
    const auto began = std::chrono::steady_clock::now();  // real time: the trail's
    EXPECT_TRUE(made.stop(200ms).clean());
    EXPECT_LT(std::chrono::steady_clock::now() - began, 1s);
}

TEST_F(engine_audit, a_late_answer_is_written_down_as_what_counted) {
    const gate hold;
    start(
        [hold](std::span<const std::byte>, const delivery&) {
            hold.arrive();
            return ack;
        },
        {.handler_timeout = 30s, .timeout_outcome = reject, .timeout_grace = 1s, .audit = keeping()});
    const opens_at_exit opener(hold);
    driver().deliver("body");
    hold.arrivals().wait(1, "the call");
    clock->advance(31s);
    driver().settled().wait(1, "the settlement");
    hold.open();
    EXPECT_EQ(records.wait(1, "the record").front().outcome, outcome_kind::reject);
}

TEST_F(engine_audit, its_own_topic_is_not_audited) {
    auto made = broker().consumer_group({.audit = keeping()});
    made.add<audit_log>([](const std::string&) { return ack; });
    made.start();
    driver().deliver("{}");
    wait_settled();
    EXPECT_TRUE(made.stop(1h).clean());
    EXPECT_EQ(records.size(), 0U);
}

TEST_F(engine_audit, each_message_of_a_batch) {
    auto made = broker().consumer_group({.audit = keeping()});
    made.add_batch(topic(),
                   [](batch<std::span<const std::byte>>& all) {
                       outcomes each(all.size(), ack);
                       each[1] = reject("the second");
                       return each;
                   },
                   {.max_messages = 3, .max_age = 1h});
    made.start();
    driver().deliver(std::vector<std::string>{"a", "b", "c"});
    const auto all = records.wait(3, "the records");
    EXPECT_EQ(all[0].outcome, outcome_kind::ack);
    EXPECT_EQ(all[1].outcome, outcome_kind::reject);
    EXPECT_EQ(all[1].payload, "b");
    EXPECT_TRUE(made.stop(1h).clean());
}

TEST_F(engine_audit, the_shipped_writer_publishes) {
    recorder<std::string> bodies;
    driver().on_publish([bodies](const spi::publish_request& request) {
        for (const auto& each : request.messages)
            bodies.add(text_of(each.msg.payload()));
        return spi::publish_report();
    });
    start(always(ack), {.audit = std::make_shared<audit_trail>(audit_to(broker().publisher()))});
    deliver("{\"n\":1}", {});
    const auto text = bodies.wait(1, "the publish").front();
    EXPECT_TRUE(text.starts_with("{\"trace_id\":\"")) << text;
    EXPECT_NE(text.find("\"payload\":{\"n\":1}"), text.npos) << text;
    EXPECT_TRUE(group().stop(1h).clean());
}

}  // namespace
}  // namespace shove::test
