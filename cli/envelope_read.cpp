#include <shove/detail/json_text.hpp>

#include <array>

#include "envelope.hpp"
#include "failure.hpp"

namespace shove::cli {
namespace {

[[noreturn]] void refuse(const std::string& text) {
    throw failure("bad_envelope", text);
}

/// What `consume` prints and a publish cannot set: read over.
bool tells_the_past(std::string_view key) {
    static constexpr std::array<std::string_view, 5> keys{"queue", "attempt", "redelivered", "published_at", "death"};
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace

envelope envelope_reader::read(std::string_view line) {
    if (!detail::is_valid_json(std::as_bytes(std::span(line)), scratch_)) {
        refuse("the line is not valid JSON; without --envelope each line is a body");
    }
    const auto members = members_of(line);
    if (!members) refuse("the line is JSON, but not an object; without --envelope each line is a body");
    envelope found;
    bool has_body = false;
    exact_body_.reset();
    for (const auto& each : *members) {
        const auto key = values_.text(each.key);
        if (!key) refuse("a key of the envelope is not a text");
        take(*key, each.value, found, has_body);
    }
    if (exact_body_) found.body = std::move(*exact_body_);
    if (!has_body) refuse("the envelope has neither 'body' nor 'body_base64'; give it one");
    return found;
}

void envelope_reader::take(const std::string& key, std::string_view value, envelope& into, bool& has_body) {
    const bool null = value == "null";
    if (key == "body") {
        into.body = value;
        has_body = true;
    } else if (key == "body_base64") {
        exact_body_ = bytes(key, value);
        has_body = true;
    } else if (key == "headers") {
        into.headers = null ? headers() : read_headers(value, values_);
    } else if (tells_the_past(key) || null) {
        return;
    } else if (key == "id") {
        into.id = text(key, value);
    } else if (key == "id_base64") {
        into.id = bytes(key, value);
    } else if (key == "key") {
        into.key = text(key, value);
    } else if (key == "key_base64") {
        into.key = bytes(key, value);
    } else if (key == "content_type") {
        into.content_type = text(key, value);
    } else if (key == "content_type_base64") {
        into.content_type = bytes(key, value);
    } else if (key == "type") {
        into.type = text(key, value);
    } else if (key == "type_base64") {
        into.type = bytes(key, value);
    } else if (key == "expires_at") {
        into.expires_at = values_.time(value);
        if (!into.expires_at) refuse("'expires_at' must be a time such as \"2026-01-31T12:00:00Z\"");
    } else {
        refuse("the key '" + key + "' is unknown; known are id, key, content_type, type, headers, expires_at, body, " +
               "body_base64 and what consume prints");
    }
}

std::string envelope_reader::text(const std::string& key, std::string_view value) {
    auto found = values_.text(value);
    if (!found) refuse("'" + key + "' must be a text");
    return std::move(*found);
}

std::string envelope_reader::bytes(const std::string& key, std::string_view value) {
    auto found = values_.bytes(value);
    if (!found) refuse("'" + key + "' must be a base64 text with padding");
    return std::move(*found);
}

}  // namespace shove::cli
