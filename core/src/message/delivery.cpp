#include <shove/delivery.hpp>

#include <shove/topic.hpp>
#include <shove/trace.hpp>

namespace shove {

std::shared_ptr<const trace_context> delivery::trace() const {
    if (state_->trace) return state_->trace;
    auto carried = read_trace(headers());
    if (!carried || !*carried) return nullptr;
    return std::make_shared<const trace_context>(std::move(**carried));
}

milliseconds delivery::age() const noexcept {
    const auto published = published_at();
    if (published == wall_time{} || !state_->clock) return milliseconds(0);
    const auto age = std::chrono::duration_cast<milliseconds>(state_->clock->wall() - published);
    return age < milliseconds(0) ? milliseconds(0) : age;
}

std::optional<wall_time> delivery::expires_at() const noexcept {
    const auto when = state_->item.msg.expires_at();
    return when == wall_time{} ? std::nullopt : std::optional(when);
}

std::optional<shove::death> delivery::death() const noexcept {
    const auto* h = past();
    if (!h || h->death_count == 0) return std::nullopt;
    return shove::death{h->death_reason, h->original_queue, h->death_count, h->dead_at};
}

result<runtime_topic> runtime_topic::make(const shove::topology& spec) {
    auto made = queue_topology::make(spec);
    if (!made) return made.error();
    runtime_topic topic;
    topic.topology = std::move(made).value();
    return topic;
}

}  // namespace shove
