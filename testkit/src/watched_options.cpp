#include <shove/metrics.hpp>
#include <shove/trace.hpp>

#include <cstdio>

#include "watched.hpp"

namespace shove::testkit {
namespace {

using watch_ptr = std::shared_ptr<leak_watch>;

/// What a broker does with its log where nobody else wants it.
void log_to_stderr(log_level level, std::string_view text) {
    if (level < log_level::warning) return;
    std::fprintf(stderr, "shove: %s: %.*s\n", to_string(level).data(), static_cast<int>(text.size()), text.data());
}

/// The context of work for which nobody else makes a span: that of what led to it, if anything did.
trace_context context_for(const span_start& what) {
    if (what.parent) return *what.parent;
    if (!what.links.empty()) return what.links.front();
    trace_context made;
    made.trace_id[0] = 1;
    made.span_id[0] = 1;
    return made;
}

/// A span that is watched, around that of the case's tracer or none.
class watched_span final : public span {
public:
    watched_span(watch_ptr watch, const span_start& what, std::unique_ptr<span> to)
        : watch_(std::move(watch)), context_(to ? to->context() : context_for(what)), to_(std::move(to)) {}
    trace_context context() const override { return context_; }
    void fail(std::string_view why) override {
        watch_->told("the failure of a span", why);
        if (to_) to_->fail(why);
    }

private:
    watch_ptr watch_;
    trace_context context_;
    std::unique_ptr<span> to_;
};

/// Watches spans, and has the case's tracer, if there is one, make them.
class watched_tracer final : public tracer {
public:
    watched_tracer(watch_ptr watch, std::shared_ptr<tracer> to) : watch_(std::move(watch)), to_(std::move(to)) {}
    std::unique_ptr<span> start(const span_start& what) override {
        watch_->told("the name of a span", what.name);
        for (const auto& field : what.attributes)
            watch_->told("the attribute '" + std::string(field.name) + "' of a span", field.text);
        if (!to_) return begins_a_trace(what) ? nullptr : std::make_unique<watched_span>(watch_, what, nullptr);
        auto made = to_->start(what);
        return made ? std::make_unique<watched_span>(watch_, what, std::move(made)) : nullptr;
    }

private:
    /// A span of such a publish would add a header to the message.
    static bool begins_a_trace(const span_start& what) noexcept {
        return what.kind == span_kind::publish && !what.parent;
    }

    watch_ptr watch_;
    std::shared_ptr<tracer> to_;
};

}  // namespace

broker_options watched(broker_options options, const watch_ptr& watch) {
    if (!options.log && !options.on_event) options.log = log_to_stderr;
    options.log = [watch, to = std::move(options.log)](log_level level, std::string_view text) {
        watch->told("the log", text);
        if (to) to(level, text);
    };
    options.on_event = [watch, to = std::move(options.on_event)](const event& what) {
        watch->told(what);
        if (to) to(what);
    };
    options.tracer = std::make_shared<watched_tracer>(watch, std::move(options.tracer));
    if (!options.metrics) {
        options.metrics = std::make_shared<metrics>();
        options.depth_samples = milliseconds(0);
    }
    watch->told_by(options.metrics);
    return options;
}

}  // namespace shove::testkit
