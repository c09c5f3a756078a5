#pragma once

#include <shove/clock.hpp>
#include <shove/headers.hpp>
#include <shove/lease_id.hpp>
#include <shove/message.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What goes into and comes out of a `lease_broker`. Lengths are in bytes. All times are of the calendar, in whole
/// milliseconds.
namespace shove {

/// A message to be published.
struct lease_message {
    std::string topic{};            ///< 1 to 255 of letters, digits and `.-_:`.
    std::string event_kind{};       ///< 1 to 128 of the same, such as `invoice.paid`.
    std::string idempotency_key{};  ///< 1 to 255 of the same and slashes: names the intent, within its topic.
    std::string content_type = "application/octet-stream";  ///< `type/subtype`, 1 to 127, no parameters.
    /// At most 32, all texts, no name twice: names 1 to 64 of lower-case letters, digits, dash, underscore, dot; values
    /// up to 1,024 of UTF-8 without control characters, 8,192 in all. `traceparent` and `tracestate` must be
    /// well-formed (see `write_trace`).
    shove::headers headers{};
    std::string payload{};  ///< Any bytes, up to `lease_limits::payload_bytes`.
};

/// A message as it is kept: never changed, shared by all who got it.
struct lease_envelope {
    message_id id;
    std::string name_space;
    std::string topic;
    std::string event_kind;
    std::string content_type;
    shove::headers headers;  ///< In order of their names.
    std::string payload;
    wall_time published_at{};
    std::uint64_t sequence = 0;  ///< Its place in its topic, from 1; never given twice.
};

/// What a publish answers.
struct lease_receipt {
    message_id id;
    /// The key had been used for the same content: this is the first one's id and time, and nothing was stored.
    bool duplicate = false;
    wall_time published_at{};
};

/// Where a new group begins.
struct lease_start {
    enum class kind : std::uint8_t {
        earliest,  ///< With all that is retained.
        latest,    ///< With the next publish.
        time,      ///< With the first message published at or after `from`, of those retained.
    };
    lease_start() = default;
    lease_start(kind k) noexcept : what(k) {}
    lease_start(wall_time when) noexcept : what(kind::time), from(when) {}

    kind what = kind::latest;
    wall_time from{};
};

/// What a subscribe answers.
struct lease_subscribed {
    bool created = false;       ///< False: the group was there, and its start is what it was.
    std::uint64_t pending = 0;  ///< Messages that wait for it; not those that are leased.
};

/// Asks for deliveries.
struct lease_request {
    std::string topic{};
    std::string group{};         ///< 1 to 128, as an event kind.
    std::string consumer{};      ///< As a group; told in dead letters, never checked.
    std::size_t max = 10;        ///< 1 to 100.
    milliseconds lease{30'000};  ///< 1 s to 1 h, from the moment of the delivery.
    milliseconds wait{0};        ///< How long to wait for the first message, up to 1 h; 0: not at all.
};

/// One message in the hands of one consumer.
struct leased {
    std::shared_ptr<const lease_envelope> envelope;
    std::string group;
    std::string consumer;
    std::uint32_t attempt = 0;  ///< From 1; survives retries, ended leases and restarts.
    wall_time lease_ends_at{};  ///< At this moment the token is of no more use.
    lease_token token;
};

/// What becomes of a delivery. Failure codes: 1 to 128 of `a-z 0-9 . - _`, for programs, such as `mail.transient`.
struct lease_settlement {
    enum class kind : std::uint8_t { acknowledge, again, dead, extend };
    lease_token token;
    kind what = kind::acknowledge;
    milliseconds time{0};  ///< again: after this, 0 to 7 days. extend: a lease of this from now, 1 s to 1 h.
    std::string code{};    ///< again, dead.

    static lease_settlement acknowledge(const lease_token& token) { return {token, kind::acknowledge, {}, {}}; }
    static lease_settlement retry(const lease_token& token, milliseconds after, std::string code) {
        return {token, kind::again, after, std::move(code)};
    }
    static lease_settlement dead_letter(const lease_token& token, std::string code) {
        return {token, kind::dead, {}, std::move(code)};
    }
    static lease_settlement extend(const lease_token& token, milliseconds lease) {
        return {token, kind::extend, lease, {}};
    }
};

/// What became of it.
struct lease_settled {
    enum class state : std::uint8_t {
        acknowledged,
        scheduled,      ///< A retry: available again `at`.
        dead_lettered,  ///< Asked for, or a retry beyond the attempt limit.
        extended,       ///< The lease ends `at`; the token goes on.
    };
    state what = state::acknowledged;
    wall_time at{};
};

/// A message that a group has given up.
struct lease_dead_letter {
    std::shared_ptr<const lease_envelope> envelope;
    std::string group;
    std::string consumer;        ///< Who had it last.
    std::uint32_t attempts = 0;  ///< Deliveries.
    std::string code;            ///< The last failure code; `delivery.max_attempts` where a lease ended.
    wall_time dead_at{};
};

/// Asks for dead letters, lowest sequence first.
struct lease_dead_query {
    std::string topic{};
    std::string group{};
    std::size_t limit = 100;  ///< 1 to 100.
    std::uint64_t after = 0;  ///< The cursor: the `next` of the page before; 0: from the start.
};

/// One page of them.
struct lease_dead_page {
    std::vector<lease_dead_letter> letters;
    std::optional<std::uint64_t> next;  ///< Nothing: there are no more.
};

/// Sends dead letters back to their group, available now, attempts counted from 0.
struct lease_redrive {
    std::string topic{};
    std::string group{};
    std::vector<std::uint64_t> sequences{};  ///< Which ones, at most 1,000; empty: the lowest,
    std::size_t limit = 100;                 ///< so many of them, 1 to 1,000.
};

/// Counts of one group.
struct lease_group_stats {
    std::string group;
    std::uint64_t pending = 0;  ///< Wait, due or not.
    std::uint64_t leased = 0;   ///< In somebody's hands; ended leases that nobody has swept count.
    std::uint64_t dead = 0;
};

/// Counts of one topic.
struct lease_topic_stats {
    std::string topic;
    std::uint64_t retained = 0;
    std::uint64_t next_sequence = 1;
    std::optional<wall_time> oldest{};  ///< When the oldest retained message was published.
    std::vector<lease_group_stats> groups;
};

/// A message for people, without what only consumers may see: names and counts of headers, the payload's length; no
/// values, no key, no token.
std::string describe(const lease_message& what);
std::string describe(const lease_envelope& what);
std::string describe(const leased& what);
std::string describe(const lease_dead_letter& what);

}  // namespace shove
