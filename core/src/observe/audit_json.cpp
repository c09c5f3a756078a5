#include <shove/audit.hpp>

#include <shove/detail/json_writer.hpp>

#include <simdjson.h>

#include <array>
#include <span>

#include "../codec/base64.hpp"
#include "../codec/rfc3339.hpp"

namespace shove {
namespace {

constexpr std::array<std::string_view, 4> outcomes{"Ack", "Retry", "Reject", "Defer"};

/// A JSON string of any bytes: what is not UTF-8 becomes U+FFFD.
void put_text(std::string& to, std::string_view text) {
    detail::json_writer writer(to);
    (void)writer.lossy_string(text);
    writer.flush();
}

void put_number(std::string& to, const char* name, std::uint64_t value) {
    to.append(name).append(std::to_string(value));
}

bool is_json(std::string_view text) {
    simdjson::dom::parser parser;
    return parser.parse(text.data(), text.size()).error() == simdjson::SUCCESS;
}

void put_payload(std::string& to, std::string_view payload) {
    if (is_json(payload)) {
        to.append(payload);
        return;
    }
    const auto bytes = std::as_bytes(std::span(payload));
    const auto at = to.size();
    to.resize(at + detail::base64_size(bytes.size()) + 2, '"');
    detail::base64_encode(bytes, to.data() + at + 1);
}

/// Values as texts, as the reference has them.
void put_headers(std::string& to, headers_view headers) {
    to += '{';
    bool first = true;
    for (const auto& h : headers) {
        if (!std::exchange(first, false)) to += ',';
        put_text(to, h.name);
        to += ':';
        put_text(to, h.value.to_string());
    }
    to += '}';
}

void put_time(std::string& to, wall_time when) {
    const auto count = when.time_since_epoch().count();
    std::array<char, detail::rfc3339_size> text{};
    const auto moment = detail::moment_from_count(count, 1, 1'000'000);
    const auto size = moment ? detail::format_rfc3339(*moment, text) : 0;
    put_text(to, std::string_view(text.data(), size));
}

}  // namespace

std::string to_json(const audit_record& record) {
    std::string out = "{\"trace_id\":";
    put_text(out, record.trace_id);
    out += ",\"topic\":";
    put_text(out, record.topic);
    out += ",\"payload\":";
    put_payload(out, record.payload);
    put_number(out, ",\"metadata\":{\"retry_count\":", record.retry_count);
    out += ",\"delivery_id\":";
    put_text(out, record.delivery_id);
    out.append(",\"redelivered\":").append(record.redelivered ? "true" : "false").append(",\"headers\":");
    put_headers(out, record.headers);
    if (record.delivery_count) put_number(out, ",\"delivery_count\":", *record.delivery_count);
    out.append("},\"outcome\":\"").append(outcomes.at(static_cast<std::size_t>(record.outcome))).append("\"");
    put_number(out,
               ",\"duration_ms\":", static_cast<std::uint64_t>(std::max<std::int64_t>(0, record.duration.count())));
    out += ",\"timestamp\":";
    put_time(out, record.timestamp);
    out += '}';
    return out;
}

}  // namespace shove
