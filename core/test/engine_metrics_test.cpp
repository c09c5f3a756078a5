#include "engine_fixture.hpp"

namespace shove::test {
namespace {

class engine_metrics : public engine_test {
protected:
    engine_metrics() { measured = std::make_shared<shove::metrics>(); }

    double consumed(const char* outcome) const {
        return measured->value("messages_consumed_total", {"orders", "default", outcome});
    }
    double failed(const char* reason) const {
        return measured->value("messages_failed_total", {"orders", "default", reason});
    }
    double discarded(const char* reason) const {
        return measured->value("messages_discarded_total", {"orders", "default", reason});
    }
    double in_flight() const { return measured->value("messages_inflight", {"orders", "default"}); }
    double calls(const char* outcome) const {
        return measured->value("message_processing_duration_seconds", {"orders", "default", outcome});
    }
    /// Without a dead-letter queue.
    void start_lossy(detail::raw_function handler, const consumer_options& how = {}) {
        lossy.emplace(broker().consumer_group());
        lossy->add(topic(shove::topology("orders").allow_message_loss()), std::move(handler), how);
        lossy->start();
    }
    void TearDown() override {
        if (lossy) (void)lossy->stop(1h);
        lossy.reset();
        engine_test::TearDown();
    }
    std::optional<any_group> lossy;
};

/// Answers as the body says.
outcome as_told(std::span<const std::byte> body, const delivery&) {
    const auto text = text_of(body);
    if (text == "retry") return retry;
    if (text == "reject") return reject;
    if (text == "defer") return defer;
    if (text == "throw") throw std::runtime_error("as told");
    return ack;
}

TEST_F(engine_metrics, counts_by_outcome) {
    start(as_told);
    for (const char* body : {"ack", "ack", "ack", "retry", "throw", "reject", "defer"})
        driver().deliver(body);
    wait_settled();
    EXPECT_EQ(consumed("ack"), 3);
    EXPECT_EQ(consumed("retry"), 2);
    EXPECT_EQ(consumed("reject"), 1);
    EXPECT_EQ(consumed("defer"), 1);
    EXPECT_EQ(calls("ack"), 3);
    EXPECT_EQ(calls("retry"), 2);
    EXPECT_EQ(failed("rejected"), 1);
    EXPECT_EQ(failed("max_retries_exceeded"), 0);
    EXPECT_EQ(discarded("rejected"), 0) << "there is a dead-letter queue";
    EXPECT_EQ(measured->value("message_size_bytes", {"orders", "default"}), 7);
    EXPECT_EQ(in_flight(), 0);
    EXPECT_EQ(measured->value("consumers", {"orders", "default"}), 1);
    (void)group().stop(1h);
    EXPECT_EQ(measured->value("consumers", {"orders", "default"}), 0);
    EXPECT_EQ(consumed("ack"), 3) << "counts stay";
}

TEST_F(engine_metrics, what_no_handler_saw_is_failed_and_not_consumed) {
    start(as_told, {.max_message_bytes = 5});
    driver().deliver("too large");
    spi::history old;
    old.retries = 10;
    driver().deliver("retry", old);
    wait_settled();
    EXPECT_EQ(failed("oversize"), 1);
    EXPECT_EQ(failed("max_retries_exceeded"), 1);
    EXPECT_EQ(consumed("retry"), 1);
    EXPECT_EQ(consumed("ack") + consumed("reject") + consumed("defer"), 0);
    EXPECT_EQ(calls("retry"), 1);
}

TEST_F(engine_metrics, a_discard_counts_once_the_broker_let_it_go) {
    driver().on_settle([](const settled_item&) { return error(errc::not_connected, "no route"); });
    start_lossy(as_told);
    driver().deliver("reject");
    driver().refused().wait(1, "the refusal");
    EXPECT_EQ(failed("rejected"), 1);
    EXPECT_EQ(discarded("rejected"), 0) << "it is still there";
    driver().on_settle({});
    advance_until("the settlement", 10ms, [&] { return driver().settled().size() == 1; });
    eventually("the count", [&] { return discarded("rejected") == 1; });
    EXPECT_EQ(failed("rejected"), 1) << "counted twice";
    EXPECT_GE(measured->value("settle_retries_total", {"orders", "default"}), 1);
    EXPECT_GE(measured->value("backend_errors_total", {"scripted", "ack"}), 1);
}

TEST_F(engine_metrics, a_timeout_counts_and_so_does_what_it_leads_to) {
    const gate hold;
    start(
        [hold](std::span<const std::byte>, const delivery&) {
            hold.arrive();
            return ack;
        },
        {.handler_timeout = 30s, .timeout_outcome = reject, .timeout_grace = 1s});
    const opens_at_exit opener(hold);
    driver().deliver("body");
    hold.arrivals().wait(1, "the call");
    EXPECT_EQ(in_flight(), 1);
    clock->advance(31s);
    driver().settled().wait(1, "the settlement");
    EXPECT_EQ(failed("timeout"), 1);
    EXPECT_EQ(failed("rejected"), 1);
    EXPECT_EQ(consumed("reject"), 1);
    EXPECT_EQ(calls("reject"), 1);
    eventually("the stuck handler", [&] { return measured->value("stuck_handlers", {"orders", "default"}) == 1; });
    EXPECT_EQ(in_flight(), 1) << "it is still in its handler";
    hold.open();
    eventually("the return", [&] { return in_flight() == 0; });
    eventually("no stuck handler", [&] { return measured->value("stuck_handlers", {"orders", "default"}) == 0; });
    EXPECT_EQ(consumed("ack"), 0);
    EXPECT_EQ(calls("ack"), 0) << "measured twice";
}

TEST_F(engine_metrics, publishes_by_what_landed) {
    driver().on_publish([](const spi::publish_request& request) {
        spi::publish_report report;
        for (std::size_t i = 0; i < request.messages.size(); ++i) {
            report.each.push_back({i == 0 ? publish_status::ok : publish_status::failed, error(errc::queue_full)});
        }
        return report;
    });
    const auto publisher = broker().publisher();
    std::vector<any_publisher::raw_outgoing> batch(3);
    (void)publisher.publish_batch(topic(), batch);
    (void)publisher.try_publish(topic(), std::string_view("one"));
    EXPECT_EQ(measured->value("messages_published_total", {"orders", "success"}), 2);
    EXPECT_EQ(measured->value("messages_published_total", {"orders", "error"}), 2);
    EXPECT_EQ(measured->value("message_publish_duration_seconds", {"orders", "success"}), 1);
    EXPECT_EQ(measured->value("message_publish_duration_seconds", {"orders", "error"}), 1);
    EXPECT_EQ(measured->value("backend_errors_total", {"scripted", "publish"}), 1);
    const std::vector<any_publisher::raw_outgoing> none;
    (void)publisher.publish_batch(topic(), none);
    EXPECT_EQ(measured->value("message_publish_duration_seconds", {"orders", "success"}), 1) << "an empty batch";
}

TEST_F(engine_metrics, a_batch_counts_its_messages_and_its_time_once) {
    auto made = broker().consumer_group();
    made.add_batch(topic(), [](batch<std::span<const std::byte>>& all) { return outcomes(all.size(), ack); },
                   {.max_messages = 3, .max_age = 1h});
    made.start();
    driver().deliver(std::vector<std::string>{"a", "b", "c"});
    wait_settled();
    EXPECT_EQ(consumed("ack"), 3);
    EXPECT_EQ(calls("ack"), 1);
    EXPECT_EQ(in_flight(), 0);
    EXPECT_TRUE(made.stop(1h).clean());
}

TEST_F(engine_metrics, the_depth_is_looked_at_now_and_then) {
    driver().on_depth([](const std::string& queue) -> std::optional<result<spi::queue_depth>> {
        spi::queue_depth found;
        found.ready = queue == "orders-dlq" ? 7 : 42;
        found.in_flight = 3;
        found.delayed = 2;
        found.oldest_age = 1'500ms;
        return result<spi::queue_depth>(found);
    });
    start(always(ack));
    EXPECT_EQ(measured->value("queue_backlog", {"orders"}), 0);
    clock->advance(5s);
    eventually("the sample", [&] { return measured->value("queue_dead_letters", {"orders"}) == 7; });
    eventually("the sample", [&] { return measured->value("queue_backlog", {"orders"}) == 42; });
    EXPECT_EQ(measured->value("queue_inflight", {"orders"}), 3);
    EXPECT_EQ(measured->value("queue_delayed", {"orders"}), 2);
    EXPECT_EQ(measured->value("queue_oldest_age_seconds", {"orders"}), 1.5);
    EXPECT_EQ(driver().count("depth"), 2U);
    (void)group().stop(1h);
    clock->advance(1min);
    EXPECT_EQ(driver().count("depth"), 2U) << "nothing is consumed any more";
}

TEST_F(engine_metrics, decisions_of_the_autoscaler) {
    driver().on_depth([](const std::string&) { return much(); });
    group_for(always(ack), {.consumers = {1, 2}});
    recorder<scale_report> reports;
    group().enable_autoscaling({.hysteresis = 0ms, .on_decision = [reports](const auto& r) { reports.add(r); }});
    group().start();
    clock->advance(5s);
    reports.wait(1, "a decision");
    clock->advance(5s);
    reports.wait(2, "a decision");
    EXPECT_EQ(measured->value("autoscaler_decisions_total", {"orders", "up"}), 1);
    EXPECT_EQ(measured->value("autoscaler_decisions_total", {"orders", "hold"}), 1);
    EXPECT_EQ(measured->value("autoscaler_messages_ready", {"orders"}), 1'000);
    EXPECT_EQ(measured->value("autoscaler_active_consumers", {"orders"}), 2);
}

TEST_F(engine_metrics, dead_letters_being_handled_count_by_size_only) {
    auto made = broker().consumer_group();
    made.add_dead(topic(), [](std::span<const std::byte>, const delivery&) { return ack; });
    made.start();
    driver().deliver("letter");
    wait_settled();
    EXPECT_EQ(measured->value("message_size_bytes", {"orders", "default"}), 1);
    EXPECT_EQ(consumed("ack"), 0);
    EXPECT_TRUE(made.stop(1h).clean());
}

}  // namespace
}  // namespace shove::test
