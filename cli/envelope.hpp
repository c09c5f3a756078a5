#pragma once

#include <shove/codec.hpp>
#include <shove/detail/json_writer.hpp>
#include <shove/headers.hpp>
#include <shove/message.hpp>

#include <optional>
#include <string>
#include <string_view>

#include "json_parts.hpp"
#include "letter_view.hpp"

namespace shove::cli {

/// Writes messages as JSON, one line each; `envelope_reader` gives back the very bytes. The form is
/// described in docs/guide/command.md.
class envelope_writer {
public:
    /// Appends a line, with its line end.
    void append(const letter_view& letter, std::string& to);

private:
    void body(detail::json_writer& writer, std::span<const std::byte> payload);
    decode_scratch scratch_;
    std::string compact_;
};

/// The headers as JSON: an object, or a list where an object cannot hold them (repeated names).
void write_headers(detail::json_writer& writer, const headers_view& headers);
/// `write_headers` as a text of its own.
std::string headers_as_json(const headers_view& headers);
/// Reads what `write_headers` writes. Throws `failure` that names the header.
headers read_headers(std::string_view json, json_values& values);

/// What `publish --envelope` takes from a line.
struct envelope {
    std::string id;
    std::optional<std::string> key;
    std::string content_type;
    std::string type;
    shove::headers headers;
    std::optional<wall_time> expires_at;
    std::string body;
};

class envelope_reader {
public:
    /// Throws `failure` that says what is wrong with the line.
    envelope read(std::string_view line);

private:
    void take(const std::string& key, std::string_view value, envelope& into, bool& has_body);
    std::string text(const std::string& key, std::string_view value);
    std::string bytes(const std::string& key, std::string_view value);
    decode_scratch scratch_;
    json_values values_;
    std::optional<std::string> exact_body_;
};

}  // namespace shove::cli
