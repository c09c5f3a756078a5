#include "queue_rows.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "census.hpp"
#include "crash_notes.hpp"
#include "shard_record.hpp"

namespace shove::rabbitmq_backend {
namespace {

constexpr std::string_view dead_letter_key = "x-dead-letter-routing-key";
constexpr std::string_view dead_letter_exchange = "x-dead-letter-exchange";

bool is_waiting(const queue_stats& what) {
    constexpr std::array<std::string_view, 3> infixes{"-hold-", "-delay-", "-later-"};
    const auto named = [&](std::string_view infix) { return what.name.find(infix) != what.name.npos; };
    return !argument(what, "x-message-ttl").empty() && !argument(what, dead_letter_key).empty() &&
           std::ranges::any_of(infixes, named);
}

const queue_stats* find_in(const std::vector<queue_stats>& all, std::string_view name) {
    const auto at =
        std::ranges::lower_bound(all, name, {}, [](const auto& each) { return std::string_view(each.name); });
    return at != all.end() && at->name == name ? &*at : nullptr;
}

/// Whether it is kept beside a shard.
bool is_beside_shard(const std::vector<queue_stats>& all, std::string_view name) {
    for (const auto& suffix : {state_queue(""), poison_queue("")}) {
        if (!name.ends_with(suffix)) continue;
        const auto* shard = find_in(all, name.substr(0, name.size() - suffix.size()));
        if (shard && is_single_active(*shard)) return true;
    }
    return false;
}

/// Whether it holds the notes of another queue.
bool is_notes(const std::vector<queue_stats>& all, const queue_stats& what) {
    const auto suffix = notes_queue("");
    const std::string_view name = what.name;
    return name.ends_with(suffix) && !argument(what, "x-message-ttl").empty() &&
           find_in(all, name.substr(0, name.size() - suffix.size())) != nullptr;
}

std::string dead_letter_queue_of(const std::vector<queue_stats>& all, const queue_stats& of,
                                 const queue_topology* declared) {
    if (declared) return declared->dead_letter_queue == of.name ? std::string() : declared->dead_letter_queue;
    const auto key = argument(of, dead_letter_key);
    if (!key.empty() && argument(of, dead_letter_exchange).empty()) return std::string(key);
    const auto derived = of.name + "-dlq";
    return find_in(all, derived) ? derived : std::string();
}

}  // namespace

bool waits_for(const queue_stats& what, std::string_view place, std::string_view queue) {
    if (argument(what, "x-message-ttl").empty()) return false;
    const auto key = argument(what, dead_letter_key);
    if (key == place) return argument(what, dead_letter_exchange).empty() || place == queue;
    return key == queue && what.name.starts_with(queue) && what.name.substr(queue.size()).starts_with("-later-");
}

bool is_single_active(const queue_stats& what) {
    return argument(what, "x-single-active-consumer") == "true";
}

bool is_subscription(const queue_stats& what) {
    return what.name.starts_with("amq.gen-");
}

std::vector<std::string> shards_like(const std::vector<queue_stats>& all, const std::string& shard) {
    constexpr std::string_view digits = "0123456789";
    const auto stem = shard.substr(0, shard.find_last_not_of(digits) + 1);
    std::vector<std::string> names{shard};
    for (const auto& each : all) {
        const bool like = each.name.starts_with(stem) && each.name.size() > stem.size() &&
                          each.name.find_first_not_of(digits, stem.size()) == each.name.npos;
        if (like && each.name != shard && is_single_active(each)) names.push_back(each.name);
    }
    return names;
}

std::vector<queue_row> rows_of(
    const std::vector<queue_stats>& all,
    const std::function<std::shared_ptr<const queue_topology>(const std::string&)>& declared) {
    std::multimap<std::string_view, const queue_stats*> waiting;  // by where they lead
    std::vector<queue_row> rows;
    for (const auto& each : all) {
        if (!argument(each, "x-message-ttl").empty()) waiting.emplace(argument(each, dead_letter_key), &each);
    }
    for (const auto& each : all) {
        if (is_waiting(each) || is_beside_shard(all, each.name) || is_notes(all, each)) continue;
        const auto topology = declared(each.name);
        auto& row = rows.emplace_back();
        row.noted = &each;
        row.dead_letter_queue = dead_letter_queue_of(all, each, topology.get());
        const bool reads = topology && topology->dead_letter_queue != each.name;
        const std::string& queue = reads ? topology->queue : each.name;
        for (const auto& key : queue == each.name ? std::vector{queue} : std::vector{each.name, queue}) {
            const auto [first, last] = waiting.equal_range(key);
            for (auto at = first; at != last; ++at) {
                if (waits_for(*at->second, each.name, queue)) row.waiting.push_back(at->second);
            }
        }
    }
    return rows;
}

}  // namespace shove::rabbitmq_backend
