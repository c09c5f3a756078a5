#include "lease_check.hpp"

#include <shove/detail/lease_rules.hpp>

#include <algorithm>
#include <string>

namespace shove::detail {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t most_retained = 100'000'000;
constexpr std::uint64_t most_subscriptions = 65'536;
constexpr std::uint64_t most_attempts = 100;
constexpr std::uint64_t most_payload = 16'777'216;
constexpr std::uint64_t most_deliveries = 100;
constexpr std::uint64_t most_at_once = 1'000;

constexpr milliseconds shortest_lease = 1s;
constexpr milliseconds longest_lease = 1h;
constexpr milliseconds longest_delay = std::chrono::days(7);

error check_time(std::string_view what, milliseconds value, milliseconds least, milliseconds most) {
    if (value >= least && value <= most) return {};
    std::string text(what);
    text.append(" is ").append(std::to_string(value.count())).append(" ms; give ");
    text.append(std::to_string(least.count())).append(" to ").append(std::to_string(most.count())).append(" ms");
    return {errc::invalid_argument, std::move(text)};
}

error check_place(std::string_view topic, std::string_view group) {
    if (auto wrong = check_topic(topic)) return wrong;
    return check_name("consumer group", group);
}

}  // namespace

error check_range(std::string_view what, std::uint64_t value, std::uint64_t least, std::uint64_t most) {
    if (value >= least && value <= most) return {};
    std::string text(what);
    text.append(" is ").append(std::to_string(value)).append("; give ");
    text.append(std::to_string(least)).append(" to ").append(std::to_string(most));
    return {errc::invalid_argument, std::move(text)};
}

error check_limits(const lease_limits& limits) {
    if (auto wrong = check_range("retained message limit", limits.retained_messages, 1, most_retained)) return wrong;
    if (auto wrong = check_range("subscription limit", limits.subscriptions, 1, most_subscriptions)) return wrong;
    if (auto wrong = check_range("delivery attempt limit", limits.attempts, 1, most_attempts)) return wrong;
    return check_range("payload byte limit", limits.payload_bytes, 1, most_payload);
}

error check_options(const lease_options& options) {
    if (auto wrong = check_name("namespace", options.name_space)) return wrong;
    if (auto wrong = check_limits(options.limits)) return wrong;
    const auto& retention = options.retention;
    if (auto wrong = check_time("retention interval", retention.every, 1ms, 24h)) return wrong;
    constexpr milliseconds longest = std::chrono::days(36'500);
    return retention.age ? check_time("retention age", *retention.age, 0ms, longest) : error();
}

error check_request(const lease_request& what) {
    if (auto wrong = check_place(what.topic, what.group)) return wrong;
    if (auto wrong = check_name("consumer", what.consumer)) return wrong;
    if (auto wrong = check_range("receive batch size", what.max, 1, most_deliveries)) return wrong;
    if (auto wrong = check_time("message lease", what.lease, shortest_lease, longest_lease)) return wrong;
    return check_time("receive wait", what.wait, 0ms, 1h);
}

error check_settlement(const lease_settlement& what) {
    using kind = lease_settlement::kind;
    if (what.what == kind::extend) return check_time("message lease", what.time, shortest_lease, longest_lease);
    if (what.what == kind::acknowledge) return {};
    if (what.what == kind::again) {
        if (auto wrong = check_time("retry delay", what.time, 0ms, longest_delay)) return wrong;
    }
    return check_code(what.code);
}

error check_dead_query(const lease_dead_query& what) {
    if (auto wrong = check_place(what.topic, what.group)) return wrong;
    return check_range("dead-letter query limit", what.limit, 1, most_deliveries);
}

error check_redrive(const lease_redrive& what) {
    if (auto wrong = check_place(what.topic, what.group)) return wrong;
    if (!what.sequences.empty()) return check_range("number of sequences", what.sequences.size(), 1, most_at_once);
    return check_range("redrive limit", what.limit, 1, most_at_once);
}

error check_purge(std::string_view topic, std::size_t limit) {
    if (auto wrong = check_topic(topic)) return wrong;
    return check_range("purge limit", limit, 1, most_at_once);
}

}  // namespace shove::detail
