#include <shove/detail/json_text.hpp>

#include "envelope.hpp"

namespace shove::cli {
namespace {

/// What `is_valid_json` accepts, less the level that the envelope itself takes.
constexpr std::size_t deepest_body = 1'000;
constexpr json_limits no_limits{1'024, SIZE_MAX, SIZE_MAX};

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

/// `"name":"text"`, or `"name_base64":"…"` for what is not UTF-8.
void text_member(detail::json_writer& writer, std::string_view name, std::string_view text) {
    std::string probe;
    detail::json_writer test(probe, no_limits);
    if (test.string(text)) {
        writer.plain_key(name);
        writer.string(text);
        return;
    }
    writer.plain_key(std::string(name) + "_base64");
    writer.bytes(bytes_of(text));
}

void time_member(detail::json_writer& writer, std::string_view name, wall_time at) {
    writer.plain_key(name);
    if (at == wall_time{} || !writer.time(at.time_since_epoch().count(), 1, 1'000'000)) writer.null();
}

void error_member(detail::json_writer& writer, std::string_view name, std::string_view text) {
    if (text.empty()) return;
    writer.plain_key(name);
    writer.lossy_string(text);
}

void number_member(detail::json_writer& writer, std::string_view name, std::uint64_t value) {
    writer.plain_key(name);
    writer.unsigned_integer(value);
}

void write_death(detail::json_writer& writer, const death_view& death) {
    writer.plain_key("death");
    writer.begin_object();
    writer.plain_key("reason");
    writer.lossy_string(death.reason);
    writer.plain_key("original_queue");
    writer.lossy_string(death.original_queue);
    number_member(writer, "count", death.count);
    time_member(writer, "at", death.at);
    number_member(writer, "retries", death.retries);
    number_member(writer, "crashes", death.crashes);
    error_member(writer, "first_error", death.first_error);
    error_member(writer, "last_error", death.last_error);
    if (death.first_failed_at != wall_time{}) time_member(writer, "first_failed_at", death.first_failed_at);
    if (death.last_failed_at != wall_time{}) time_member(writer, "last_failed_at", death.last_failed_at);
    writer.end_object();
}

}  // namespace

void envelope_writer::append(const letter_view& letter, std::string& to) {
    detail::json_writer writer(to, no_limits);
    writer.begin_object();
    text_member(writer, "id", letter.id);
    writer.plain_key("queue");
    writer.lossy_string(letter.queue);
    number_member(writer, "attempt", letter.attempt);
    writer.plain_key("redelivered");
    writer.boolean(letter.redelivered);
    time_member(writer, "published_at", letter.published_at);
    if (letter.expires_at != wall_time{}) time_member(writer, "expires_at", letter.expires_at);
    if (letter.key) {
        text_member(writer, "key", *letter.key);
    } else {
        writer.plain_key("key");
        writer.null();
    }
    text_member(writer, "content_type", letter.content_type);
    text_member(writer, "type", letter.type);
    writer.plain_key("headers");
    write_headers(writer, letter.headers);
    if (letter.death) write_death(writer, *letter.death);
    body(writer, letter.payload);
    writer.end_object();
    writer.flush();
    to += '\n';
}

/// JSON for people and their tools; beside it the exact bytes where the JSON does not give them back.
void envelope_writer::body(detail::json_writer& writer, std::span<const std::byte> payload) {
    compact_.clear();
    const bool is_json = detail::compact_json(payload, compact_, scratch_) && depth_of(compact_) <= deepest_body;
    if (is_json) {
        writer.plain_key("body");
        writer.raw_json(compact_);
        if (compact_.size() == payload.size()) return;  // nothing was taken away
    }
    writer.plain_key("body_base64");
    writer.bytes(payload);
}

}  // namespace shove::cli
