#include <shove/publisher.hpp>

#include <algorithm>
#include <mutex>

#include "blocking.hpp"
#include "broker_core.hpp"
#include "completion.hpp"
#include "observed_publish.hpp"
#include "sequenced_publish.hpp"

namespace shove {

std::size_t batch_report::count(publish_status status) const noexcept {
    return static_cast<std::size_t>(std::ranges::count(each, status, &publish_state::status));
}

std::vector<std::size_t> batch_report::to_republish() const {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < each.size(); ++i) {
        if (each[i].status != publish_status::ok) places.push_back(i);
    }
    return places;
}

error batch_report::first_error() const {
    const auto bad = std::ranges::find_if(each, [](const auto& s) { return s.status != publish_status::ok; });
    return bad == each.end() ? error() : bad->cause;
}

namespace detail {
namespace {

error check(const publish_options& options, const topic_info& topic, const spi::capabilities& caps) {
    for (const auto& h : options.headers) {
        if (!is_reserved_header(h.name)) continue;
        return {errc::reserved_header, "header '" + std::string(h.name) + "' of a message for '" +
                                           topic.topology->queue + "' is reserved for shove; use another name"};
    }
    if (topic.topology->sequencing && !options.key) {
        return {errc::invalid_argument, "a message for '" + topic.topology->queue +
                                            "' has no key, and the topic is sequenced; give publish_options::key"};
    }
    if (topic.topology->sequencing && options.delay.count() > 0) {
        return {errc::unsupported, "a message for '" + topic.topology->queue +
                                       "' has a delay, and the topic is sequenced; publish it when its turn comes"};
    }
    if (options.delay.count() < 0) return {errc::invalid_argument, "the delay is negative"};
    if (options.delay.count() > 0 && !caps.delayed_publish) {
        return {errc::unsupported, "backend " + std::string(caps.backend) + " cannot delay a publish"};
    }
    if (options.delay > caps.max_delay) {
        return {errc::invalid_argument, "the delay of " + std::to_string(options.delay.count()) +
                                            " ms is over the backend's limit of " +
                                            std::to_string(caps.max_delay.count())};
    }
    if (options.expires_in && options.expires_in->count() <= 0) {
        return {errc::invalid_argument, "expires_in is not positive"};
    }
    return {};
}

publish_state failed_state(error why) {
    publish_state state;
    state.status = publish_status::failed;
    state.cause = std::move(why);
    return state;
}

/// One publish under way: completed once, by the driver or by its timeout, whichever is first.
struct pending_publish {
    std::mutex mutex;
    prepared_batch batch;
    unique_function<void(prepared_batch)> done;
    clock::timer_id timer = 0;

    unique_function<void(prepared_batch)> claim() {
        std::lock_guard lock(mutex);
        return std::exchange(done, nullptr);
    }
};

void store(prepared_batch& batch, spi::publish_report report) {
    for (std::size_t i = 0; i < batch.places.size(); ++i) {
        auto& state = batch.states[batch.places[i]];
        if (report.each.empty()) {
            state.status = publish_status::ok;
            continue;
        }
        state.status = report.each[i].status;
        state.cause = std::move(report.each[i].cause);
    }
}

void store_timeout(prepared_batch& batch, const std::string& queue) {
    for (const auto place : batch.places) {
        batch.states[place].status = publish_status::unknown;
        batch.states[place].cause = error(errc::timed_out, "publishing to '" + queue + "': no answer within " +
                                                               std::to_string(batch.timeout.count()) + " ms");
    }
}

}  // namespace

void reserve(prepared_batch& batch, std::size_t messages) {
    batch.states.reserve(messages);
    batch.messages.reserve(messages);
    batch.places.reserve(messages);
}

milliseconds publisher_core::until(wall_time when) const {
    const auto wait = std::chrono::ceil<milliseconds>(when - core_->clock().wall());
    return std::max(wait, milliseconds(0));
}

void publisher_core::prepare(prepared_batch& into, const topic_info& topic, result<std::string_view> payload,
                             const publish_options& options) const {
    auto& state = into.states.emplace_back();
    const bool sequenced = topic.topology->sequencing.has_value();
    if (sequenced && options.key && into.broken_keys.contains(*options.key)) {
        state.status = publish_status::not_attempted;
        state.cause = error(errc::not_attempted, "an earlier message of its key in the batch could not be made");
        return;
    }
    prepare_one(into, state, topic, std::move(payload), options);
    if (sequenced && state.cause && options.key) into.broken_keys.insert(*options.key);
}

void publisher_core::prepare_one(prepared_batch& into, publish_state& state, const topic_info& topic,
                                 result<std::string_view> payload, const publish_options& options) const {
    if (!payload) {
        state = failed_state(payload.error());
        return;
    }
    if (auto bad = check(options, topic, core_->capabilities())) {
        state = failed_state(std::move(bad));
        return;
    }
    if (payload->size() > core_->capabilities().max_message_bytes) {
        state = failed_state(error(errc::too_large, "the message has " + std::to_string(payload->size()) +
                                                        " bytes; the backend's limit is " +
                                                        std::to_string(core_->capabilities().max_message_bytes)));
        return;
    }
    const auto now = core_->clock().wall();
    const auto uuid = core_->ids().next(now);
    message_parts parts;
    parts.id = options.id;
    if (options.id.empty()) parts.uuid = uuid.data();
    if (options.key) parts.key = *options.key;
    parts.content_type = topic.content_type;
    parts.type = topic.type;
    parts.payload = std::as_bytes(std::span(*payload));
    std::optional<headers> traced;
    if (options.trace || core_->tracer()) traced = traced_headers(*core_, into, topic, options);
    parts.headers = traced ? *traced : options.headers;
    parts.published_at = now;
    if (options.expires_in) parts.expires_at = now + *options.expires_in;
    try {
        into.messages.push_back({message::make(parts), options.delay});
        into.places.push_back(into.states.size() - 1);
    } catch (const exception& e) {
        state = failed_state(e.cause());
    }
}

void publisher_core::start(prepared_batch batch, unique_function<void(prepared_batch)> done) const {
    if (!batch.states.empty() && (core_->board() || batch.traced)) done = observed(core_, batch, std::move(done));
    if (batch.messages.empty()) return done(std::move(batch));
    if (batch.topology->sequencing) return publish_sequenced(core_, std::move(batch), std::move(done));
    auto& clock = core_->clock();
    spi::publish_request request;
    const auto timeout_at = clock.now() + batch.timeout;
    request.deadline = batch.when_full == when_full::fail ? steady_time::min() : timeout_at;
    request.messages = batch.messages;
    const auto topology = batch.topology;
    const auto pending = std::make_shared<pending_publish>();
    pending->batch = std::move(batch);
    pending->done = std::move(done);
    core_->driver().publish(*topology, std::move(request), [pending, core = core_](spi::publish_report report) {
        auto complete = pending->claim();
        if (!complete) return;  // timed out before
        if (pending->timer) core->clock().cancel(pending->timer);
        store(pending->batch, std::move(report));
        complete(std::move(pending->batch));
    });
    std::lock_guard lock(pending->mutex);
    if (!pending->done) return;
    pending->timer = clock.call_at(timeout_at, [pending, topology] {
        auto complete = pending->claim();
        if (!complete) return;
        store_timeout(pending->batch, topology->queue);
        complete(std::move(pending->batch));
    });
}

namespace {

result<receipt> one_of(prepared_batch& batch) {
    auto& state = batch.states.front();
    if (state.status == publish_status::ok) return receipt(std::move(batch.messages.front().msg));
    return std::move(state.cause);
}

batch_report all_of(prepared_batch& batch) {
    for (std::size_t i = 0; i < batch.places.size(); ++i)
        batch.states[batch.places[i]].id = batch.messages[i].msg.id();
    return {std::move(batch.states)};
}

}  // namespace

result<receipt> publisher_core::publish_one(prepared_batch batch) const {
    auto ended = wait_for<prepared_batch>([&](auto done) { start(std::move(batch), std::move(done)); });
    return one_of(ended);
}

batch_report publisher_core::publish_all(prepared_batch batch) const {
    auto ended = wait_for<prepared_batch>([&](auto done) { start(std::move(batch), std::move(done)); });
    return all_of(ended);
}

void publisher_core::async_one(prepared_batch batch,
                               boost::asio::any_completion_handler<void(error_code, receipt)> done) const {
    start(std::move(batch), [finish = completion_on(core_->executor(), std::move(done))](prepared_batch ended) mutable {
        auto outcome = one_of(ended);
        finish(outcome ? error_code() : outcome.error().code, outcome ? *outcome : receipt());
    });
}

void publisher_core::async_all(prepared_batch batch,
                               boost::asio::any_completion_handler<void(error_code, batch_report)> done) const {
    start(std::move(batch), [finish = completion_on(core_->executor(), std::move(done))](prepared_batch ended) mutable {
        auto report = all_of(ended);
        const auto code = report.first_error().code;
        finish(code, std::move(report));
    });
}

}  // namespace detail
}  // namespace shove
