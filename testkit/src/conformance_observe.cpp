#include <shove/audit.hpp>
#include <shove/metrics.hpp>
#include <shove/testkit/child_process.hpp>
#include <shove/testkit/ledger.hpp>
#include <shove/trace.hpp>

#include <algorithm>
#include <map>

#include "stage.hpp"

namespace shove::testkit {
namespace {

/// Fails, retries and passes by the last digit of the body.
outcome by_digit(const seen& call, const delivery&) {
    switch (call.payload.back()) {
        case '0':
            return reject("zero");
        case '1':
            return call.attempt == 1 ? retry("one, once") : ack;
        case '2':
            if (call.attempt == 1) throw std::runtime_error("two, once");
            return ack;
        default:
            return ack;
    }
}

void metrics_agree_with_the_work(stage& on) {
    const auto measured = std::make_shared<shove::metrics>();
    on.options().metrics = measured;
    on.options().depth_samples = 50ms;
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    const auto& queue = queue_of(topic);
    publish_numbered(on, topic, 30);
    auto consuming = on.consume(topic, probe(by_digit));
    on.wait_empty(queue);
    consuming.stop();
    const auto consumed = [&](const char* outcome) {
        return measured->value("messages_consumed_total", {queue, "default", outcome});
    };
    EXPECT_EQ(measured->value("messages_published_total", {queue, "success"}), 30);
    EXPECT_EQ(measured->value("messages_published_total", {queue, "error"}), 0);
    EXPECT_EQ(consumed("ack"), 27);
    EXPECT_EQ(consumed("reject"), 3);
    EXPECT_EQ(consumed("retry"), 6) << "three retries, three exceptions";
    EXPECT_EQ(measured->value("messages_failed_total", {queue, "default", "rejected"}), 3);
    EXPECT_EQ(measured->value("message_processing_duration_seconds", {queue, "default", "ack"}), 27);
    EXPECT_EQ(measured->value("message_size_bytes", {queue, "default"}), 36);
    EXPECT_EQ(measured->value("messages_inflight", {queue, "default"}), 0);
    EXPECT_EQ(measured->value("consumers", {queue, "default"}), 0);
    EXPECT_EQ(measured->value("leases_lost_total", {queue, "default"}), 0);
}

void depth_is_sampled(stage& on) {
    const auto measured = std::make_shared<shove::metrics>();
    on.options().metrics = measured;
    on.options().depth_samples = 20ms;
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    const gate hold;
    const opens_at_exit opener(hold);
    publish_numbered(on, topic, 9);
    auto consuming = on.consume(topic, probe([hold](const seen&, const delivery&) {
                                    hold.arrive();
                                    return ack;
                                }),
                                consumer_options{.prefetch = 2}.sequential());
    eventually("the waiting ones", [&] { return measured->value("queue_backlog", {queue_of(topic)}) == 7; });
    eventually("the held ones", [&] { return measured->value("queue_inflight", {queue_of(topic)}) == 2; });
    if (on.factory().tells_age) {
        eventually("their age", [&] { return measured->value("queue_oldest_age_seconds", {queue_of(topic)}) > 0; });
    }
    hold.open();
    eventually("nothing waits", [&] { return measured->value("queue_backlog", {queue_of(topic)}) == 0; });
    eventually("no age", [&] { return measured->value("queue_oldest_age_seconds", {queue_of(topic)}) == 0; });
}

void audit_writes_every_call(stage& on) {
    const auto trail = std::make_shared<audit_trail>(audit_to(on.publisher()));
    on.broker().declare<audit_log>();
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    publish_numbered(on, topic, 10);
    auto consuming = on.consume(topic, probe(by_digit), {.audit = trail});
    on.wait_empty(queue_of(topic));
    EXPECT_TRUE(consuming.stop().clean());
    EXPECT_EQ(trail->counts().written, 12U) << "ten calls and two that came again";
    EXPECT_EQ(trail->counts().failed, 0U);
    const auto records = on.take(runtime_topic::make(audit_log::topology).value(), 12);
    std::map<std::string, int> outcomes;
    for (const auto& record : records) {
        EXPECT_EQ(record.content_type, "application/json");
        EXPECT_NE(record.payload.find("\"topic\":\"" + queue_of(topic) + "\""), std::string::npos) << record.payload;
        for (const char* name : {"\"Ack\"", "\"Retry\"", "\"Reject\""})
            outcomes[name] += record.payload.find(name) != std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(outcomes["\"Ack\""], 9);
    EXPECT_EQ(outcomes["\"Retry\""], 2);
    EXPECT_EQ(outcomes["\"Reject\""], 1);
}

void audit_changes_no_outcome(stage& on) {
    const auto trail =
        std::make_shared<audit_trail>([](std::span<const audit_record>) { throw std::runtime_error("no disk"); });
    recorder<std::string> told;
    on.options().on_event = [told](const event& what) { told.add(std::string(what.info.name)); };
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    publish_numbered(on, topic, 10);
    const probe handler(by_digit);
    auto consuming = on.consume(topic, handler, {.audit = trail});
    on.wait_empty(queue_of(topic));
    EXPECT_TRUE(consuming.stop().clean());
    EXPECT_EQ(handler.size(), 12U);
    EXPECT_EQ(on.broker().depth(dead_queue_of(topic)).ready, 1U);
    EXPECT_EQ(trail->counts().failed, 12U);
    EXPECT_EQ(std::ranges::count(told.all(), "audit_failed"), 1) << "told once";
}

/// The auditor's own broker is down.
void audit_without_its_broker(stage& on) {
    auto other = on.factory().make_store();
    auto down = other->open({});
    const auto trail = std::make_shared<audit_trail>(audit_to(down.publisher(), 200ms));
    (void)down.close(patience());
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    publish_numbered(on, topic, 10);
    auto consuming = on.consume(topic, probe(by_digit), {.audit = trail});
    on.wait_empty(queue_of(topic));
    EXPECT_TRUE(consuming.stop().clean());
    EXPECT_EQ(on.broker().depth(dead_queue_of(topic)).ready, 1U);
    EXPECT_EQ(trail->counts().failed, 12U);
}

constexpr const char* traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

void a_trace_goes_through_retry_death_and_replay(stage& on) {
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    publish_options how;
    how.trace = std::make_shared<const trace_context>(parse_trace(traceparent, "vendor=x").value());
    on.publisher().publish(topic, a_body, how);
    recorder<std::string> traces;
    const probe handler([traces](const seen& call, const delivery& info) {
        const auto context = info.trace();
        traces.add(context ? context->parent() + " " + context->state : "none");
        return call.attempt == 1 ? retry("once") : reject("then no");
    });
    auto consuming = on.consume(topic, handler);
    on.wait_ready(dead_queue_of(topic), 1);
    consuming.stop();
    on.broker().admin().replay(dead_queue_of(topic), queue_of(topic), {});
    if (on.factory().capabilities.durable) on.reopen();
    auto again = on.consume(topic, handler);
    handler.wait(3);
    on.wait_ready(dead_queue_of(topic), 1);
    again.stop();
    for (const auto& each : traces.all())
        EXPECT_EQ(each, std::string(traceparent) + " vendor=x");
    const auto letter = on.take_dead(topic, 1).front();
    EXPECT_EQ(letter.headers.view().text("traceparent"), traceparent);
}

runtime_topic traced_topic() {
    return runtime_topic::make(shove::topology("traced").hold(1ms).dlq()).value();
}

/// In a process of its own: handles the message twice, notes its trace, and lets it die.
int let_it_die(backend_store& store, const child_arguments& told) {
    const ledger book(told.at("ledger"));
    const auto broker = store.open({});
    counter rejected;
    auto group = broker.consumer_group();
    group.add(traced_topic(), [&](std::span<const std::byte>, const delivery& info) -> outcome {
        const auto context = info.trace();
        book.note('T', context ? context->trace_id_text() : "none");
        if (info.attempt() == 1) return retry;
        rejected.add();
        return reject("in another process");
    });
    group.start();
    rejected.wait(1, "the message");
    return group.stop(10s).exit_code();
}

const bool role_known = add_child_role("let_it_die", &let_it_die);

void a_trace_goes_through_two_processes(stage& on) {
    const scratch_folder folder("shove-trace");
    const auto file = folder.path() / "ledger";
    on.broker().declare(traced_topic());
    publish_options how;
    how.trace = std::make_shared<const trace_context>(parse_trace(traceparent).value());
    on.publisher().publish(traced_topic(), a_body, how);
    const child_arguments told{{"store", on.store().location()}, {"ledger", file.string()}};
    for (int life = 0; life < 2; ++life) {
        child_process one("let_it_die", told);
        EXPECT_EQ(one.wait(), 0);
        const auto moved = on.broker().admin().replay(dead_queue_of(traced_topic()), queue_of(traced_topic()), {});
        EXPECT_EQ(moved.done, 1U);
    }
    const auto lines = ledger::read(file);
    EXPECT_EQ(lines.size(), 4U);
    for (const auto& line : lines)
        EXPECT_EQ(line.id, "0af7651916cd43dd8448eb211c80319c");
}

/// Everything that a broker tells to people and programs, in one text.
class everything_told final : public tracer, public std::enable_shared_from_this<everything_told> {
public:
    std::unique_ptr<span> start(const span_start& what) override {
        add(what.name);
        for (const auto& field : what.attributes)
            add(field.text);
        return std::make_unique<told_span>(shared_from_this());
    }
    void add(std::string_view text) const { texts_.add(std::string(text)); }
    void add(const event& what) const {
        add(what.text);
        for (const auto& field : what.fields)
            add(field.text);
    }
    bool mentions(std::string_view marker) const {
        const auto all = texts_.all();
        return std::ranges::any_of(all, [&](const auto& text) { return text.find(marker) != text.npos; });
    }
    std::size_t size() const { return texts_.size(); }

private:
    class told_span final : public span {
    public:
        explicit told_span(std::shared_ptr<everything_told> to) : to_(std::move(to)) {}
        trace_context context() const override { return parse_trace(traceparent).value(); }
        void fail(std::string_view why) override { to_->add(why); }

    private:
        std::shared_ptr<everything_told> to_;
    };
    recorder<std::string> texts_;
};

/// Names and label values of a `metrics`.
class told_labels final : public metric_reader {
public:
    explicit told_labels(std::shared_ptr<everything_told> to) : to_(std::move(to)) {}
    void number(const metric_info&, std::span<const std::string_view> labels, double) override {
        for (const auto label : labels)
            to_->add(label);
    }
    void histogram(const metric_info&, std::span<const std::string_view> labels, std::span<const std::uint64_t>,
                   double) override {
        for (const auto label : labels)
            to_->add(label);
    }

private:
    std::shared_ptr<everything_told> to_;
};

/// Whatever goes wrong with messages, what they hold is not told.
void nothing_tells_what_messages_hold(stage& on) {
    const auto told = std::make_shared<everything_told>();
    const auto measured = std::make_shared<shove::metrics>();
    on.options().on_event = [told](const event& what) { told->add(what); };
    on.options().tracer = told;
    on.options().metrics = measured;
    on.options().depth_samples = 10ms;
    const auto topic = on.topic([](auto t) { return t.hold(1ms).dlq(); });
    const auto lossy = on.topic([](auto t) { return t.allow_message_loss(); });
    constexpr const char* secret = "S3CR3T";
    const auto send = [&](const runtime_topic& to, const std::string& body) {
        publish_options how;
        how.headers = headers{{"note", secret}, {"traceparent", secret}};
        on.publisher().publish(to, body, how);
    };
    const auto handler = [&](const seen& call, const delivery&) -> outcome {
        if (call.payload.find("throw") != std::string::npos) throw std::runtime_error("broken");
        if (call.payload.find("reject") != std::string::npos) return reject("as asked");
        return ack;
    };
    for (const char* what : {"ack", "throw", "reject"}) {
        for (const auto& to : {topic, lossy})
            send(to, std::string(secret) + what);
    }
    for (const auto& to : {topic, lossy})
        send(to, std::string(300, 'x') + secret);
    const consumer_options how{
        .max_retries = 1, .max_message_bytes = 200, .audit = std::make_shared<audit_trail>([](auto) {
                                                        throw std::runtime_error("no disk");
                                                    })};
    auto consuming = on.consume(topic, probe(handler), how);
    auto beside = on.consume(lossy, probe(handler), how);
    on.wait_ready(dead_queue_of(topic), 3);
    on.wait_empty(queue_of(lossy));
    consuming.stop();
    beside.stop();
    told_labels labels(told);
    measured->read(labels);
    EXPECT_GT(told->size(), 50U) << "too little was told to say anything";
    EXPECT_FALSE(told->mentions(secret));
    const auto wrong = on.publisher().try_publish(topic, secret, publish_options{.headers = {{"x-shove-a", secret}}});
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().message().find(secret), std::string::npos) << wrong.error().message();
}

}  // namespace

void add_observe_cases(std::vector<conformance_case>& to) {
    to.insert(to.end(), {
                            {"observe", "metrics_agree_with_the_work", &metrics_agree_with_the_work},
                            {"observe", "depth_is_sampled", &depth_is_sampled},
                            {"observe", "audit_writes_every_call", &audit_writes_every_call},
                            {"observe", "audit_changes_no_outcome", &audit_changes_no_outcome},
                            {"observe", "audit_without_its_broker", &audit_without_its_broker},
                            {"observe",
                             "a_trace_goes_through_two_processes",
                             &a_trace_goes_through_two_processes,
                             {needs_admin, needs_processes}},
                            {"observe",
                             "a_trace_goes_through_retry_death_and_replay",
                             &a_trace_goes_through_retry_death_and_replay,
                             {needs_admin}},
                            {"observe", "nothing_tells_what_messages_hold", &nothing_tells_what_messages_hold},
                        });
}

}  // namespace shove::testkit
