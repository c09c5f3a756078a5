#include "record.hpp"

#include <shove/detail/json_writer.hpp>
#include <shove/json.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

namespace shove::sqlite_backend::lease {
namespace {

constexpr std::size_t length_bytes = 4;

error corrupt(std::string_view what) {
    return {errc::storage_corrupt,
            "a lease message's record is damaged: " + std::string(what) + "; `shove store check` finds all of them"};
}

}  // namespace

std::string headers_json(headers_view headers) {
    if (headers.empty()) return "{}";
    std::string json;
    detail::json_writer writer(json);
    writer.begin_object();
    for (const auto& each : headers) {
        writer.key(each.name);
        writer.string(each.value.bytes());
    }
    writer.end_object();
    writer.flush();
    return json;
}

result<headers> parse_headers_json(std::string_view json) {
    if (json == "{}") return headers();
    std::map<std::string, std::string> read;
    decode_scratch scratch;
    if (!shove::json::decode(std::as_bytes(std::span(json)), read, scratch)) return corrupt("message header encoding");
    headers made;
    for (const auto& [name, value] : read)
        made.add(name, value);
    return made;
}

std::string encode_record(headers_view headers, std::string_view payload) {
    const auto json = headers_json(headers);
    std::string clear;
    clear.reserve(length_bytes + json.size() + payload.size());
    for (std::size_t i = 0; i < length_bytes; ++i)
        clear += static_cast<char>(static_cast<std::uint32_t>(json.size()) >> (24 - 8 * i));
    clear.append(json).append(payload);
    return clear;
}

result<record> decode_record(std::string_view clear) {
    if (clear.size() < length_bytes) return corrupt("message bounds");
    std::size_t length = 0;
    for (std::size_t i = 0; i < length_bytes; ++i)
        length = length << 8U | static_cast<unsigned char>(clear[i]);
    clear.remove_prefix(length_bytes);
    if (length > clear.size()) return corrupt("message bounds");
    auto headers = parse_headers_json(clear.substr(0, length));
    if (!headers) return headers.error();
    return record{std::move(*headers), std::string(clear.substr(length))};
}

}  // namespace shove::sqlite_backend::lease
