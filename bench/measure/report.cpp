#include "report.hpp"

#include <shove/json.hpp>

#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <string_view>

namespace shove::bench {
namespace {

/// 1234567.8 as "1,234,568"; below a hundred with one decimal.
std::string number(double value) {
    char text[64];
    std::snprintf(text, sizeof text, value < 100 ? "%.1f" : "%.0f", value);
    std::string out = text;
    const auto point = std::min(out.find('.'), out.size());
    for (auto at = static_cast<std::ptrdiff_t>(point) - 3; at > 0; at -= 3) {
        out.insert(static_cast<std::size_t>(at), ",");
    }
    return out;
}

std::string micros(const std::optional<double>& value) {
    return value ? number(*value) + " us" : "-";
}

void row(std::string& out, std::string_view name, std::string_view value) {
    out.append("  ").append(name).append(name.size() < 18 ? 18 - name.size() : 1, ' ').append(value).append("\n");
}

std::string setting(const report& of) {
    std::string text = of.backend + ", " + of.mode + ", " + number(static_cast<double>(of.messages)) + " messages of " +
                       std::to_string(of.payload_bytes) + " bytes";
    if (of.shards) text += ", " + std::to_string(*of.shards) + " shard(s), " + std::to_string(*of.keys) + " key(s)";
    if (of.mode != "publish") {
        if (!of.shards) text += ", " + std::to_string(of.consumers) + " consumer(s)";
        text += ", prefetch " + std::to_string(of.effective_prefetch.value_or(1)) + ", handler " + of.handler;
        if (of.batch) text += ", " + std::to_string(*of.batch) + " per call";
    }
    if (of.publish_s) {
        text += ", " + std::to_string(of.publishers) + " publisher(s)";
        if (of.pub_batch > 1) text += ", batches of " + std::to_string(of.pub_batch);
    }
    return text + "\n";
}

}  // namespace

std::string to_json(const report& of) {
    std::string out;
    json::encode(of, out).value();
    return out;
}

std::string to_table(const report& of) {
    std::string out = setting(of);
    row(out, "messages/s", number(of.msgs_per_s));
    if (of.steady_msgs_per_s) row(out, "  steady part", number(*of.steady_msgs_per_s));
    if (of.publish_s) {
        row(out, "publish calls/s",
            number(static_cast<double>(of.messages) / *of.publish_s / static_cast<double>(of.pub_batch)));
    }
    if (of.p50_us) {
        row(out, "publish to handler",
            "p50 " + micros(of.p50_us) + ", p95 " + micros(of.p95_us) + ", p99 " + micros(of.p99_us) + ", p99.9 " +
                micros(of.p999_us) + ", max " + micros(of.max_us));
    }
    row(out, "CPU per message", number(of.cpu_us_per_msg) + " us");
    row(out, "peak memory", number(static_cast<double>(of.rss_peak_kib) / 1024) + " MiB");
    row(out, "machine busy", number(of.machine_busy_pct) + " %");
    if (of.mode != "publish") {
        auto text = number(static_cast<double>(of.handled)) + ", doubles " + std::to_string(of.duplicates);
        if (of.misordered) text += ", out of order " + std::to_string(*of.misordered);
        row(out, "handled", text);
    }
    if (!of.complete) row(out, "INCOMPLETE", "not everything was handled");
    for (const auto& e : of.errors)
        row(out, "error", e);
    return out;
}

}  // namespace shove::bench
