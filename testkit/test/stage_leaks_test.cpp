#include "stage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>

#include <shove/metrics.hpp>
#include <shove/testkit/scripted_driver.hpp>
#include <shove/trace.hpp>

// The stage of the conformance suite sees what a broker tells that it must not: each test has something tell it.

namespace shove::testkit {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

/// A store whose brokers all have the same driver.
class scripted_store final : public backend_store {
public:
    explicit scripted_store(std::shared_ptr<scripted_driver> driver) : driver_(std::move(driver)) {}
    std::shared_ptr<spi::driver> connect(const spi::driver_context&) override { return driver_; }

private:
    std::shared_ptr<scripted_driver> driver_;
};

backend_factory factory_of(const std::shared_ptr<scripted_driver>& driver) {
    backend_factory made;
    made.name = "scripted";
    made.capabilities = driver->capabilities();
    made.make_store = [driver] { return std::make_unique<scripted_store>(driver); };
    return made;
}

/// A publish fails with a text that gives the body away.
std::optional<spi::publish_report> refuse_naming_the_body(const spi::publish_request& request) {
    const auto why = error(errc::storage_full, "no room for " + text_of(request.messages.front().msg.payload()));
    return spi::publish_report{{{spi::publish_status::failed, why}}};
}

class stage_leaks : public testing::Test {
protected:
    std::shared_ptr<scripted_driver> driver = std::make_shared<scripted_driver>();
    backend_factory factory = factory_of(driver);
    stage on{factory};
    runtime_topic topic = runtime_topic::make(shove::topology("orders")).value();

    counter failures;  ///< Events of a receive that failed, as the case hears them.

    stage_leaks() {
        on.options().on_event = [failures = failures](const event& what) {
            if (what.info.name == "receive_failed") failures.add();
        };
    }
    /// A consumer whose receive fails once, with a text.
    void consume_failing(const std::string& text) {
        driver->fail_receives(error(errc::not_connected, text), 1);
        auto consuming = on.consume(topic, probe());
        failures.wait(1, "the event");
        consuming.stop();
    }
};

TEST_F(stage_leaks, none_where_nothing_is_told) {
    driver->on_publish([](const auto&) { return spi::publish_report{{{spi::publish_status::failed, errc::closed}}}; });
    EXPECT_FALSE(on.publisher().try_publish(topic, a_body));
    consume_failing("the server is gone");
    EXPECT_THAT(on.leaks(), IsEmpty());
}

TEST_F(stage_leaks, in_an_error_of_the_driver) {
    driver->on_publish(refuse_naming_the_body);
    EXPECT_FALSE(on.publisher().try_publish(topic, a_body));
    EXPECT_THAT(on.leaks(), Contains(AllOf(HasSubstr("an error of publish"), HasSubstr(a_body))));
}

TEST_F(stage_leaks, in_an_error_of_another_broker) {
    driver->on_publish(refuse_naming_the_body);
    const auto other = on.factory().make_store()->open({});
    EXPECT_FALSE(other.publisher().try_publish(topic, a_body));
    EXPECT_THAT(on.leaks(), Contains(HasSubstr("an error of publish")));
}

TEST_F(stage_leaks, in_an_error_of_a_publisher) {
    topic.check = [](std::span<const std::byte> body) -> result<void> {
        return error(errc::encode_failed, "cannot encode " + text_of(body));
    };
    EXPECT_FALSE(on.publisher().try_publish(topic, a_body));
    EXPECT_THAT(on.leaks(), Contains(HasSubstr("an error of a publisher")));
    EXPECT_EQ(driver->count("publish"), 0U) << "the engine refused it";
}

TEST_F(stage_leaks, of_each_message_of_a_batch) {
    driver->on_publish([](const spi::publish_request& request) {
        spi::publish_report report;
        report.each.resize(request.messages.size());
        report.each.back() = {spi::publish_status::failed, error(errc::storage_full, "a header is Header-Value")};
        return report;
    });
    std::vector<std::string> bodies;
    auto batch = numbered(bodies, 3);
    batch.back().options.headers.add("note", "Header-Value");
    EXPECT_FALSE(on.publisher().publish_batch(topic, batch).all_stored());
    EXPECT_THAT(on.leaks(), Contains(HasSubstr("tells 'Header-Value'")));
}

TEST_F(stage_leaks, in_log_lines_and_events) {
    on.publisher().publish(topic, a_body);
    consume_failing(std::string("cannot read ") + a_body);
    const auto leaks = on.leaks();
    EXPECT_THAT(leaks, Contains(HasSubstr("the log tells")));
    EXPECT_THAT(leaks, Contains(HasSubstr("the event 'receive_failed' tells")));
    EXPECT_THAT(leaks, Contains(HasSubstr("the field 'error' of the event 'receive_failed' tells")));
}

/// A body that is the queue's name comes wherever the queue is named.
TEST_F(stage_leaks, in_spans_and_labels) {
    topic = runtime_topic::make(shove::topology("SECRET-queue")).value();
    on.publisher().publish(topic, "SECRET-queue");
    const auto leaks = on.leaks();
    EXPECT_THAT(leaks, Contains(HasSubstr("the name of a span tells")));
    EXPECT_THAT(leaks, Contains(HasSubstr("the attribute 'messaging.destination.name' of a span tells")));
    EXPECT_THAT(leaks, Contains(HasSubstr("a label of the metric 'messages_published_total' tells")));
}

TEST_F(stage_leaks, in_metrics_of_the_case) {
    const auto measured = std::make_shared<metrics>();
    on.options().metrics = measured;
    topic = runtime_topic::make(shove::topology("SECRET-queue")).value();
    on.publisher().publish(topic, "SECRET-queue");
    EXPECT_EQ(measured->value("messages_published_total", {"SECRET-queue", "success"}), 1);
    EXPECT_THAT(on.leaks(), Contains(HasSubstr("a label of the metric 'messages_published_total' tells")));
}

/// Counts its spans.
class counting_tracer final : public tracer {
public:
    counter spans;
    std::unique_ptr<span> start(const span_start& what) override {
        spans.add();
        class numbered_span final : public span {
        public:
            explicit numbered_span(const trace_context* parent)
                : context_(parent ? *parent : trace_context{{7}, {7}}) {}
            trace_context context() const override { return context_; }
            void fail(std::string_view) override {}

        private:
            trace_context context_;
        };
        return std::make_unique<numbered_span>(what.parent);
    }
};

TEST_F(stage_leaks, beside_a_tracer_of_the_case) {
    const auto traces = std::make_shared<counting_tracer>();
    on.options().tracer = traces;
    recorder<std::string> sent;
    driver->on_publish([sent](const spi::publish_request& request) {
        sent.add(std::string(request.messages.front().msg.headers().text("traceparent").value_or("none")));
        return spi::publish_report();
    });
    topic = runtime_topic::make(shove::topology("SECRET-queue")).value();
    on.publisher().publish(topic, "SECRET-queue");
    EXPECT_EQ(traces->spans.value(), 1U);
    EXPECT_EQ(sent.all().front().substr(3, 4), "0700") << "the span of the case's tracer goes with the message";
    EXPECT_THAT(on.leaks(), Contains(HasSubstr("the name of a span tells")));
}

TEST_F(stage_leaks, adds_nothing_to_messages) {
    recorder<std::size_t> counts;
    driver->on_publish([counts](const spi::publish_request& request) {
        counts.add(request.messages.front().msg.headers().size());
        return spi::publish_report();
    });
    on.publisher().publish(topic, a_body);
    on.publisher().publish(topic, a_body, {.headers = {{"note", "Header-Value"}}});
    EXPECT_EQ(counts.all(), (std::vector<std::size_t>{0, 1}));
}

TEST_F(stage_leaks, in_a_description) {
    on.publisher().publish(topic, a_body);
    driver->on_describe([] { return spi::description{{{"last message", a_body}}, {}}; });
    (void)on.broker().describe();
    EXPECT_THAT(on.leaks(), Contains(HasSubstr("the description tells")));
}

TEST(stage_leaks_of_secrets, of_the_factory) {
    const auto driver = std::make_shared<scripted_driver>();
    auto factory = factory_of(driver);
    factory.secrets = {"hunter2"};
    stage on(factory);
    driver->on_declare([](const auto&) { return error(errc::not_connected, "no answer from shove:hunter2@host"); });
    EXPECT_THROW(on.topic(), exception);
    EXPECT_THAT(on.leaks(), Contains(AllOf(HasSubstr("an error of declare"), HasSubstr("hunter2"))));
}

TEST(stage_leaks_of_a_case, fail_it) {
    EXPECT_NONFATAL_FAILURE(
        {
            const auto driver = std::make_shared<scripted_driver>();
            driver->on_describe([] { return spi::description{{{"last message", a_body}}, {}}; });
            run_case(factory_of(driver), {"test", "tells", [](stage& on) {
                                              on.publisher().publish(on.topic(), a_body);
                                              (void)on.broker().describe();
                                          }});
        },
        "what only handlers may see was told: the description tells 'SECRET-body'");
}

}  // namespace
}  // namespace shove::testkit
