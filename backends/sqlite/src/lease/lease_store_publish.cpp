#include "lease_store.hpp"

#include <shove/detail/lease_rules.hpp>

#include <algorithm>
#include <utility>

namespace shove::sqlite_backend::lease {

namespace {

/// Rows that one step of retention looks at: a publisher waits some milliseconds for it, not more.
constexpr std::size_t rows_looked_at = 512;

}  // namespace

result<lease_receipt> lease_store::publish(const spi::lease_publish& what) {
    if (!now_) return now_.error();
    const auto& message = what.message;
    auto* topic = topics_.find(message.topic);
    if (topic != nullptr) {
        if (const auto same = messages_.by_key(*topic, message.topic, message.idempotency_key)) {
            const auto kept = seal_->fingerprint(what.content);
            if (!kept) return kept.error();
            if (*kept != same->content) return detail::key_taken(message.topic);
            return lease_receipt{same->id, true, detail::from_ms(same->published_at_ms)};
        }
    }
    if (!db.ok()) return db.failure();
    if (static_cast<std::uint64_t>(space_.retained) >= space_.limits.retained_messages) {
        return detail::no_capacity("retained messages", space_.limits.retained_messages);
    }
    std::array<detail::random_16, 1> fresh{};
    if (auto failed = random_.fill_uuids(fresh)) return failed;
    if (topic == nullptr) topic = topics_.make(message.topic);
    if (topic == nullptr) return db.failure();
    if (topic->exhausted()) return detail::no_capacity("numbers of one topic", topic->sequence_of(topic->tail));
    const message_id id(fresh[0]);
    const auto row = topic->tail + 1;
    space_.content_bytes += messages_.insert(row, id, now_->wall_ms, what, message.topic, topic->sequence_of(row));
    if (!db.ok()) return db.failure();
    topic->tail = row;
    topics_.touch(*topic);
    ++space_.retained;
    counts_changed_ = true;
    return lease_receipt{id, false, detail::from_ms(now_->wall_ms)};
}

result<lease_store::place> lease_store::find(const std::string& topic, const std::string& group) {
    place found;
    found.topic = topics_.find(topic);
    if (!db.ok()) return db.failure();
    if (found.topic == nullptr) return detail::no_subscription(topic, group);
    const auto at = found.topic->groups.find(group);
    if (at == found.topic->groups.end()) return detail::no_subscription(topic, group);
    found.group = &at->second;
    return found;
}

std::uint64_t lease_store::pending(const place& of) {
    return static_cast<std::uint64_t>(messages_.count(of.group->cursor, of.topic->tail) +
                                      deliveries_.count(of.group->id, delivery_state::waiting));
}

result<lease_subscribed> lease_store::subscribe(const std::string& name, const std::string& group,
                                                const lease_start& from) {
    if (const auto there = find(name, group)) return lease_subscribed{false, pending(*there)};
    if (!db.ok()) return db.failure();
    if (static_cast<std::uint64_t>(space_.subscriptions) >= space_.limits.subscriptions) {
        return detail::no_capacity("message subscriptions", space_.limits.subscriptions);
    }
    auto* topic = topics_.make(name);
    if (topic == nullptr) return db.failure();
    auto cursor = topic->tail;
    if (from.what == lease_start::kind::earliest) cursor = topic->base();
    if (from.what == lease_start::kind::time) {
        // In whole milliseconds, as messages have it: what is published within the next one counts.
        const auto since = std::chrono::ceil<milliseconds>(from.from.time_since_epoch()).count();
        const auto first = messages_.first_since(topic->base(), topic->tail, since);
        if (first) cursor = *first - 1;
    }
    auto* made = topics_.make_group(*topic, group, cursor);
    if (made == nullptr) return db.failure();
    ++space_.subscriptions;
    counts_changed_ = true;
    return lease_subscribed{true, pending({topic, made})};
}

result<std::size_t> lease_store::unsubscribe(const std::string& name, const std::string& group) {
    const auto leaving = find(name, group);
    if (!leaving) return leaving.error();
    const auto id = leaving->group->id;
    const auto waited = pending(*leaving) + static_cast<std::uint64_t>(deliveries_.count(id, delivery_state::leased));
    deliveries_.forget_group(id);
    topics_.remove_group(*leaving->topic, group);
    --space_.subscriptions;
    counts_changed_ = true;
    return static_cast<std::size_t>(waited);
}

void lease_store::remove(topic_state& topic, const std::string& name, const message_log::purgeable& what) {
    deliveries_.forget_message(topic.id, what.row);
    messages_.remove(name, what);
    --space_.retained;
    space_.content_bytes -= what.bytes;
    counts_changed_ = true;
}

result<std::size_t> lease_store::purge(const std::string& name, std::size_t limit) {
    auto* topic = topics_.find(name);
    if (topic == nullptr || topic->groups.empty()) return std::size_t{0};
    auto last = topic->tail;  // beyond the lowest cursor some group has not started
    for (const auto& [group_name, group] : topic->groups)
        last = std::min(last, group.cursor);
    const auto gone = messages_.finished(*topic, last, limit);
    for (const auto& each : gone)
        remove(*topic, name, each);
    return gone.size();
}

bool lease_store::retire(const lease_retention& by) {
    if (!now_) return false;
    std::size_t looked_at = 0;
    for (auto& [name, topic] : topics_.all()) {
        if (retire_topic(topic, name, by, looked_at)) return true;
    }
    return false;
}

bool lease_store::retire_topic(topic_state& topic, const std::string& name, const lease_retention& by,
                               std::size_t& looked_at) {
    const auto heavy = [&] {
        return by.payload_bytes && static_cast<std::uint64_t>(space_.content_bytes) > *by.payload_bytes;
    };
    const auto horizon = by.age ? now_->wall_ms - by.age->count() : -1;
    auto last = topic.tail;
    for (const auto& [group_name, group] : topic.groups)
        last = std::min(last, group.cursor);
    auto& from = retired_to_[topic.id];
    if (from < topic.base() || from > last) from = topic.base();
    const auto window = messages_.window(topic, from, last, rows_looked_at - looked_at);
    looked_at += window.size();
    for (const auto& each : window) {
        if (each.published_at_ms > horizon && !heavy()) {
            from = topic.base();
            return false;
        }
        from = each.row;
        if (!each.held) remove(topic, name, each);
    }
    if (looked_at >= rows_looked_at) return true;
    from = topic.base();
    return false;
}

}  // namespace shove::sqlite_backend::lease
