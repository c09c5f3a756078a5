#include "observed_publish.hpp"

#include <algorithm>

#include "broker_core.hpp"
#include "spans.hpp"

namespace shove::detail {
namespace {

using context_ptr = std::shared_ptr<const trace_context>;

context_ptr given_trace(const publish_options& options) {
    if (options.trace) return options.trace;
    if (auto carried = trace_of(options.headers)) return std::make_shared<const trace_context>(std::move(*carried));
    return nullptr;
}

bool same(const context_ptr& a, const context_ptr& b) {
    return a == b || (a && b && *a == *b);
}

}  // namespace

std::optional<headers> traced_headers(const broker_core& core, prepared_batch& into, const topic_info& topic,
                                      const publish_options& options) {
    auto own = given_trace(options);
    if (core.tracer() && into.messages.empty()) {
        into.traced = start_span(core, span_kind::publish, topic.topology->queue, own.get(), {}, 1);
        into.traced_parent = own;
    }
    const bool of_batch = into.traced && same(own, into.traced_parent);
    if (!of_batch && !own) return std::nullopt;
    auto with = options.headers;
    write_trace(with, of_batch ? into.traced->context() : *own);
    return with;
}

unique_function<void(prepared_batch)> observed(const std::shared_ptr<broker_core>& core, prepared_batch& batch,
                                               unique_function<void(prepared_batch)> done) {
    std::shared_ptr<publish_meters> meters;
    if (core->board()) meters = core->board()->publisher(batch.topology->queue);
    if (!meters && !batch.traced) return done;
    const auto began = core->clock().now();
    return [core, meters, began, done = std::move(done)](prepared_batch ended) mutable {
        const auto stored =
            static_cast<std::size_t>(std::ranges::count(ended.states, publish_status::ok, &publish_state::status));
        const auto missed = ended.states.size() - stored;
        if (ended.traced && missed > 0) ended.traced->fail("not all was stored");
        ended.traced.reset();
        if (meters) {
            if (stored > 0) meters->published[0].add(stored);
            if (missed > 0) meters->published[1].add(missed);
            meters->took[missed > 0 ? 1 : 0].note(core->clock().now() - began);
            if (missed > 0) core->count_error(broker_meters::publish);
        }
        done(std::move(ended));
    };
}

}  // namespace shove::detail
