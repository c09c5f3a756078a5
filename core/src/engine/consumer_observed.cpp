#include <algorithm>

#include "broker_core.hpp"
#include "call_answer.hpp"
#include "consumer.hpp"
#include "spans.hpp"

// What is written down (audit) and traced of a consumer's calls, where anybody asked for it. Without the lock.

namespace shove::detail {
namespace {

/// So many links a span has at most.
constexpr std::size_t max_links = 128;

template <class Items, class GetMessage>
std::vector<trace_context> links_of(const Items& items, GetMessage message_of) {
    std::vector<trace_context> links;
    for (const auto& item : items) {
        if (links.size() == max_links) break;
        if (auto context = trace_of(message_of(item).headers())) links.push_back(std::move(*context));
    }
    return links;
}

/// Whether a delivery follows its publish without a wait of our making: then its work is part of that.
bool follows_publish(const spi::delivery& item) {
    const bool tried = item.redelivered || (item.past && (item.past->retries > 0 || item.past->death_count > 0));
    return !tried && !item.msg.headers().find("x-shove-replays");
}

std::string_view word_for(decide::ending how) noexcept {
    switch (how) {
        case decide::ending::exception:
            return "the handler threw";
        case decide::ending::timed_out:
            return "the handler timed out";
        case decide::ending::retry:
            return "retry";
        case decide::ending::reject:
            return "reject";
        default:
            return "not handled";
    }
}

}  // namespace

/// Begins the span of a call. Links, not a parent, for a batch and for what was delayed, retried or dead.
void consumer::observe_begin(call& c, steady_time now) const {
    c.began = now;
    if (!core_->tracer()) return;
    std::vector<trace_context> links;
    std::optional<trace_context> parent;
    if (batches_) {
        links = links_of(std::span(c.members.data(), c.size), [](const auto& m) -> auto& { return m.item.msg; });
    } else if (auto context = trace_of(c.state.item.msg.headers())) {
        if (follows_publish(c.state.item)) {
            parent = std::move(*context);
        } else {
            links.push_back(std::move(*context));
        }
    }
    c.traced = start_span(*core_, span_kind::handle, plan_.queue(), parent ? &*parent : nullptr, links, c.messages());
    if (!c.traced) return;
    c.state.trace = std::make_shared<const trace_context>(c.traced->context());
    for (std::size_t i = 0; i < c.size; ++i)
        c.members[i].trace = c.state.trace;
}

/// Ends the span and writes the call down. Says when it ended.
steady_time consumer::observe_end(call& c, const call_end& end) const {
    c.ended = core_->clock().now();
    if (c.traced) {
        if (end.all.how != decide::ending::acked && end.all.how != decide::ending::defer) {
            c.traced->fail(word_for(end.all.how));
        }
        c.traced.reset();
        c.state.trace.reset();
        for (auto& member : c.members)
            member.trace.reset();
    }
    if (audit_) write_down(c, end);
    return c.ended;
}

void consumer::write_down(const call& c, const call_end& end) const {
    if (!batches_) return write_down(c.state, c, end.all);
    auto other = end.others.begin();
    for (std::size_t i = 0; i < c.size; ++i) {
        const bool differs = other != end.others.end() && other->index == i;
        write_down(c.members[i], c, differs ? other->how : end.all);
        if (differs) ++other;
    }
}

bool consumer::abandoned(const call& c) const {
    const lock_type lock(mutex_);
    return c.now == call::phase::abandoned;
}

/// Puts the record of one message into the audit's outbox. What is settled without its handler's answer is written
/// down with the outcome that counted.
void consumer::write_down(const delivery_state& state, const call& c, const decide::ended& how) const {
    const auto counted = counted_outcome(how);
    if (!counted) return;
    const auto& msg = state.item.msg;
    const auto headers = msg.headers();
    audit_record record;
    if (const auto id = headers.text("x-trace-id")) {
        record.trace_id = *id;
    } else if (const auto context = trace_of(headers)) {
        record.trace_id = context->trace_id_text();
    } else {
        id_buffer text;
        const auto fresh = core_->ids().next(core_->clock().wall());
        record.trace_id = write_uuid(fresh.data(), text);
    }
    record.topic = plan_.queue();
    record.payload.assign(reinterpret_cast<const char*>(msg.payload().data()), msg.payload().size());
    record.retry_count = state.item.past ? state.item.past->retries : 0;
    record.delivery_id = msg.id();
    record.redelivered = state.item.redelivered || record.retry_count > 0;
    record.headers = shove::headers(headers);
    if (state.item.deliveries > 0) record.delivery_count = state.item.deliveries;
    record.outcome = abandoned(c) ? plan_.options.timeout_outcome.kind() : *counted;
    record.duration = std::chrono::duration_cast<milliseconds>(c.ended - c.began);
    record.timestamp = core_->clock().wall();
    if (audit_->add(std::move(record))) return;
    if (auto* meters = core_->meters()) meters->audit_dropped.add();
    say(happening::audit_dropped, "an audit record of '" + plan_.queue() + "' was dropped: the outbox is full",
        {{"count", 1}});
}

void consumer::trace_received(const std::vector<spi::delivery>& batch) const {
    const auto links = links_of(batch, [](const auto& item) -> auto& { return item.msg; });
    (void)start_span(*core_, span_kind::receive, plan_.queue(), nullptr, links, batch.size());
}

/// A span that ends with the settlements.
std::shared_ptr<span> consumer::trace_settling(const std::vector<spi::settlement>& batch) const {
    if (!core_->tracer()) return nullptr;
    const auto links = links_of(batch, [](const auto& s) -> auto& { return s.item.msg; });
    return start_span(*core_, span_kind::settle, plan_.queue(), nullptr, links, batch.size());
}

}  // namespace shove::detail
