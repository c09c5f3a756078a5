#pragma once

#include <shove/error.hpp>
#include <shove/headers.hpp>

#include <string>
#include <string_view>

/// What of a message a seal covers: its headers and its payload, as one run of bytes. The form is shared with
/// rullst-messaging's sealed records.
namespace shove::sqlite_backend::lease {

/// The length of the headers' JSON in 4 bytes, big-endian; the JSON; the payload. The headers must be texts, in order
/// of their names, no name twice.
std::string encode_record(headers_view headers, std::string_view payload);

struct record {
    shove::headers headers;
    std::string payload;
};

/// Reads just that. Error: `errc::storage_corrupt`, which says what is wrong and never what is there.
result<record> decode_record(std::string_view clear);

/// Headers as a JSON object of texts, as `encode_record` writes and `decode_record` reads it.
std::string headers_json(headers_view headers);
result<headers> parse_headers_json(std::string_view json);

}  // namespace shove::sqlite_backend::lease
