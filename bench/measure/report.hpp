#pragma once

#include <boost/describe/class.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shove::bench {

/// What one run found. The names are the keys of the JSON line; the Rust peer prints the same ones.
struct report {
    std::string impl;
    std::string backend;
    std::string mode;
    std::optional<std::string> label;
    std::uint64_t messages = 0;
    std::uint64_t payload_bytes = 0;
    std::uint32_t consumers = 0;
    std::uint64_t prefetch = 0;
    std::optional<std::uint64_t> effective_prefetch;
    bool concurrent = false;
    std::string handler;
    std::optional<std::uint64_t> batch;
    std::uint64_t pub_batch = 0;
    std::uint32_t publishers = 0;
    std::optional<std::uint64_t> keys;
    std::optional<std::uint64_t> shards;
    bool live = false;
    std::optional<double> rate;
    std::optional<std::uint64_t> capacity;
    unsigned worker_threads = 0;
    bool complete = false;
    std::uint64_t handled = 0;
    std::uint64_t handler_calls = 0;
    std::uint64_t duplicates = 0;
    std::optional<std::uint64_t> misordered;
    std::vector<std::string> errors;
    double fill_s = 0;
    double elapsed_s = 0;
    std::optional<double> publish_s;
    double msgs_per_s = 0;
    std::optional<double> steady_msgs_per_s;
    std::optional<double> p50_us;
    std::optional<double> p95_us;
    std::optional<double> p99_us;
    std::optional<double> p999_us;
    std::optional<double> max_us;
    double cpu_s = 0;
    double cpu_user_s = 0;
    double cpu_sys_s = 0;
    double cpu_us_per_msg = 0;
    std::uint64_t rss_peak_kib = 0;
    double machine_busy_pct = 0;
    double machine_steal_pct = 0;
    double load1 = 0;
};
BOOST_DESCRIBE_STRUCT(report, (),
                      (impl, backend, mode, label, messages, payload_bytes, consumers, prefetch, effective_prefetch,
                       concurrent, handler, batch, pub_batch, publishers, keys, shards, live, rate, capacity,
                       worker_threads, complete, handled, handler_calls, duplicates, misordered, errors, fill_s,
                       elapsed_s, publish_s, msgs_per_s, steady_msgs_per_s, p50_us, p95_us, p99_us, p999_us, max_us,
                       cpu_s, cpu_user_s, cpu_sys_s, cpu_us_per_msg, rss_peak_kib, machine_busy_pct, machine_steal_pct,
                       load1))

/// The report on one line of JSON, without the line's end.
std::string to_json(const report& of);
/// The report as a short table for people.
std::string to_table(const report& of);

}  // namespace shove::bench
