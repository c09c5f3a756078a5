#include "consumer_settings.hpp"

#include <shove/error.hpp>

namespace shove::detail {
namespace {

[[noreturn]] void refuse(const std::string& text) {
    throw exception(error(errc::invalid_argument, text));
}

/// The registration's value if it was given, else the group's, which is the library's if that was not given.
template <class T>
const T& pick(const setting<T>& own, const setting<T>& group) {
    return own.given() ? own.value() : group.value();
}

}  // namespace

consumer_settings settle_options(const consumer_options& own, const consumer_options& group) {
    consumer_settings settled;
    settled.consumers = pick(own.consumers, group.consumers);
    settled.prefetch = pick(own.prefetch, group.prefetch);
    settled.concurrent = pick(own.concurrent, group.concurrent);
    settled.max_retries = pick(own.max_retries, group.max_retries);
    settled.handler_timeout = pick(own.handler_timeout, group.handler_timeout);
    settled.timeout_outcome = pick(own.timeout_outcome, group.timeout_outcome);
    settled.timeout_grace = pick(own.timeout_grace, group.timeout_grace);
    settled.max_message_bytes = pick(own.max_message_bytes, group.max_message_bytes);
    settled.crash_budget = pick(own.crash_budget, group.crash_budget);
    settled.max_pending_per_key = pick(own.max_pending_per_key, group.max_pending_per_key);
    settled.reorder_window = pick(own.reorder_window, group.reorder_window);
    settled.reorder_window_bytes = pick(own.reorder_window_bytes, group.reorder_window_bytes);
    settled.audit = pick(own.audit, group.audit);
    return settled;
}

void check_settings(const consumer_settings& settings, const std::string& queue) {
    const auto at = " of the consumers of '" + queue + "'";
    const auto& range = settings.consumers;
    if (settings.prefetch == 0) refuse("prefetch" + at + " is 0; it must be at least 1");
    if (settings.prefetch > 1'000'000) {
        refuse("prefetch" + at + " is " + std::to_string(settings.prefetch) + "; it must be at most 1,000,000");
    }
    if (range.min == 0 || range.min > range.max) {
        refuse("the number" + at + " is " + std::to_string(range.min) + ".." + std::to_string(range.max) +
               "; the minimum must be at least 1 and at most the maximum");
    }
    if (settings.handler_timeout && settings.handler_timeout->count() <= 0) {
        refuse("handler_timeout" + at + " is " + std::to_string(settings.handler_timeout->count()) +
               " ms; it must be positive, or nothing for no limit");
    }
    if (settings.max_pending_per_key == 0) refuse("max_pending_per_key" + at + " is 0; it must be at least 1");
    if (settings.reorder_window == 0 || settings.reorder_window > 10'000'000) {
        refuse("reorder_window" + at + " is " + std::to_string(settings.reorder_window) +
               "; it must be at least 1 and at most 10,000,000");
    }
    if (settings.timeout_grace.count() < 0) refuse("timeout_grace" + at + " is negative");
}

void check_batch(const batch_options& batch, const consumer_settings& settings, const queue_topology& topology) {
    const auto at = " of the batches of '" + topology.queue + "'";
    if (topology.sequencing) {
        refuse("topic '" + topology.queue + "' is sequenced, and a batch would join its keys; consume it with add()");
    }
    if (batch.max_messages == 0 || batch.max_messages > 100'000) {
        refuse("max_messages" + at + " is " + std::to_string(batch.max_messages) +
               "; it must be at least 1 and at most 100,000");
    }
    if (batch.max_age.count() <= 0) {
        refuse("max_age" + at + " is " + std::to_string(batch.max_age.count()) + " ms; it must be positive");
    }
    if (batch.max_bytes == 0) refuse("max_bytes" + at + " is 0; it must be at least 1");
    if (settings.prefetch < batch.max_messages) {
        refuse("prefetch of the consumers of '" + topology.queue + "' is " + std::to_string(settings.prefetch) +
               ", and a batch of " + std::to_string(batch.max_messages) +
               " can never fill; leave prefetch out, or make it at least max_messages");
    }
}

}  // namespace shove::detail
