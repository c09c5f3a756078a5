#include <map>

#include "engine_fixture.hpp"

namespace shove::test {
namespace {

constexpr const char* from_outside = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// What a test sees of a span.
struct seen_span {
    span_kind kind{};
    std::string name;
    std::optional<trace_context> parent;
    std::vector<trace_context> links;
    trace_context own;
    std::string failure;
    std::map<std::string, std::string> attributes;
};

/// Keeps spans when they end; numbers them.
class keeping_tracer final : public tracer {
public:
    recorder<seen_span> ended;
    std::atomic<bool> throws{false};

    std::unique_ptr<span> start(const span_start& what) override {
        if (throws) throw std::runtime_error("cannot trace");
        seen_span begun;
        begun.kind = what.kind;
        begun.name = what.name;
        if (what.parent) begun.parent = *what.parent;
        begun.links.assign(what.links.begin(), what.links.end());
        for (const auto& field : what.attributes)
            begun.attributes[std::string(field.name)] =
                field.is_number ? std::to_string(field.number) : std::string(field.text);
        begun.own.trace_id = what.parent ? what.parent->trace_id : std::array<std::uint8_t, 16>{9};
        begun.own.span_id[0] = static_cast<std::uint8_t>(++next_);
        begun.own.flags = 1;
        return std::make_unique<kept>(std::move(begun), ended);
    }

private:
    class kept final : public span {
    public:
        kept(seen_span begun, recorder<seen_span> ended) : now_(std::move(begun)), ended_(std::move(ended)) {}
        ~kept() override { ended_.add(now_); }
        trace_context context() const override { return now_.own; }
        void fail(std::string_view why) override { now_.failure = why; }

    private:
        seen_span now_;
        recorder<seen_span> ended_;
    };
    std::atomic<int> next_{0};
};

class engine_trace : public engine_test {
protected:
    std::shared_ptr<keeping_tracer> traces = std::make_shared<keeping_tracer>();
    recorder<std::string> passed_on;  ///< The trace that handlers see.

    engine_trace() { tracing = traces; }
    detail::raw_function noting(outcome answer) {
        return [passed_on = passed_on, answer](std::span<const std::byte>, const delivery& info) {
            const auto context = info.trace();
            passed_on.add(context ? context->parent() : "none");
            return answer;
        };
    }
    void deliver(const headers& list, std::optional<spi::history> past = {}) {
        message_parts parts;
        parts.id = "id";
        parts.headers = list;
        spi::delivery one;
        one.msg = message::make(parts);
        if (past) one.past = std::make_unique<spi::history>(*past);
        driver().deliver(std::move(one));
    }
    std::vector<seen_span> wait_spans(span_kind kind, std::size_t n) {
        std::vector<seen_span> found;
        eventually("the spans", [&] {
            found.clear();
            for (auto& each : traces->ended.all()) {
                if (each.kind == kind) found.push_back(each);
            }
            return found.size() >= n;
        });
        return found;
    }
    /// The `traceparent` of the last publish.
    std::optional<std::string> published(const publish_options& how) {
        recorder<std::optional<std::string>> sent;
        driver().on_publish([sent](const spi::publish_request& request) {
            const auto text = request.messages.front().msg.headers().text("traceparent");
            sent.add(text ? std::optional<std::string>(*text) : std::nullopt);
            return spi::publish_report();
        });
        broker().publisher().publish(topic(), std::string_view("body"), how);
        return sent.wait(1, "the publish").front();
    }
};

TEST_F(engine_trace, a_handlers_span_is_the_publishes_child) {
    start(noting(ack));
    deliver(headers{{"traceparent", from_outside}});
    const auto handled = wait_spans(span_kind::handle, 1).front();
    EXPECT_EQ(handled.name, "orders handle");
    EXPECT_EQ(handled.parent->parent(), from_outside);
    EXPECT_TRUE(handled.links.empty());
    EXPECT_EQ(handled.failure, "");
    EXPECT_EQ(handled.attributes.at("messaging.system"), "scripted");
    EXPECT_EQ(handled.attributes.at("messaging.operation.type"), "process");
    EXPECT_EQ(passed_on.wait(1, "the call").front(), handled.own.parent()) << "the handler sees its own span";
    const auto settled = wait_spans(span_kind::settle, 1).front();
    EXPECT_EQ(settled.links.front().parent(), from_outside);
    EXPECT_EQ(wait_spans(span_kind::receive, 1).front().links.front().parent(), from_outside);
}

TEST_F(engine_trace, a_retry_is_linked_and_says_that_it_failed) {
    start(noting(retry));
    spi::history old;
    old.retries = 1;
    deliver(headers{{"traceparent", from_outside}}, old);
    const auto handled = wait_spans(span_kind::handle, 1).front();
    EXPECT_FALSE(handled.parent);
    EXPECT_EQ(handled.links.front().parent(), from_outside);
    EXPECT_EQ(handled.failure, "retry");
}

TEST_F(engine_trace, hostile_headers_are_no_trace) {
    start(noting(ack));
    deliver(headers{{"traceparent", "00-" + std::string(10'000, 'f')}});
    deliver(headers{{"tracestate", "a=1"}});
    const auto handled = wait_spans(span_kind::handle, 2);
    EXPECT_FALSE(handled[0].parent);
    EXPECT_FALSE(handled[1].parent);
    EXPECT_TRUE(handled[0].links.empty());
    wait_settled();
}

TEST_F(engine_trace, a_batch_links_to_all) {
    auto made = broker().consumer_group();
    made.add_batch(topic(), [](batch<std::span<const std::byte>>& all) { return outcomes(all.size(), ack); },
                   {.max_messages = 2, .max_age = 1h});
    made.start();
    deliver(headers{{"traceparent", from_outside}});
    deliver(headers{{"traceparent", from_outside}});
    const auto handled = wait_spans(span_kind::handle, 1).front();
    EXPECT_FALSE(handled.parent);
    EXPECT_EQ(handled.links.size(), 2U);
    EXPECT_EQ(handled.attributes.at("messaging.batch.message_count"), "2");
    EXPECT_TRUE(made.stop(1h).clean());
}

TEST_F(engine_trace, a_publish_is_a_span_of_the_trace_it_is_given) {
    publish_options how;
    how.trace = std::make_shared<const trace_context>(parse_trace(from_outside).value());
    const auto sent = published(how);
    const auto span = wait_spans(span_kind::publish, 1).front();
    EXPECT_EQ(span.parent->parent(), from_outside);
    EXPECT_EQ(sent, span.own.parent());
    publish_options by_header;
    by_header.headers = headers{{"traceparent", from_outside}};
    const auto second = published(by_header);
    EXPECT_EQ(second, wait_spans(span_kind::publish, 2).back().own.parent());
    EXPECT_EQ(wait_spans(span_kind::publish, 2).back().parent->parent(), from_outside);
    const auto third = published({});
    EXPECT_EQ(third, wait_spans(span_kind::publish, 3).back().own.parent()) << "a trace of its own";
}

TEST_F(engine_trace, a_tracer_that_throws_stops_nothing) {
    traces->throws = true;
    start(noting(ack));
    deliver(headers{{"traceparent", from_outside}});
    driver().settled().wait(1, "the settlement");
    EXPECT_EQ(passed_on.wait(1, "the call").front(), from_outside);
    const auto names = happened.all();
    EXPECT_NE(std::ranges::find(names, "tracer_failed"), names.end());
}

class engine_untraced : public engine_trace {
protected:
    engine_untraced() { tracing = nullptr; }
};

TEST_F(engine_untraced, contexts_are_passed_on_all_the_same) {
    start(noting(ack), consumer_options{}.sequential());
    deliver(headers{{"traceparent", from_outside}});
    deliver({});
    EXPECT_EQ(passed_on.wait(2, "the calls"), (std::vector<std::string>{from_outside, "none"}));
    publish_options how;
    how.trace = std::make_shared<const trace_context>(parse_trace(from_outside).value());
    EXPECT_EQ(published(how), from_outside);
    EXPECT_EQ(published({}), std::nullopt);
}

}  // namespace
}  // namespace shove::test
