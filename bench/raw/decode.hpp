#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shove::bench {

/// The message that all programs send.
struct raw_sample {
    std::string id;
    std::uint64_t seq = 0;
    std::uint64_t sent_ns = 0;
    std::string body;
};

/// Its JSON, with a body of `body_bytes`.
inline std::string raw_json(std::uint64_t seq, std::uint64_t sent_ns, std::size_t body_bytes) {
    const auto number = std::to_string(seq);
    return "{\"id\":\"m-" + number + "\",\"seq\":" + number + ",\"sent_ns\":" + std::to_string(sent_ns) +
           ",\"body\":\"" + std::string(body_bytes, 'x') + "\"}";
}

/// Decodes one message as a user of simdjson would.
inline void decode(simdjson::ondemand::parser& parser, std::string& bytes, raw_sample& into) {
    bytes.reserve(bytes.size() + simdjson::SIMDJSON_PADDING);
    auto document = parser.iterate(bytes);
    into.id.assign(std::string_view(document["id"]));
    into.seq = document["seq"];
    into.sent_ns = document["sent_ns"];
    into.body.assign(std::string_view(document["body"]));
}

}  // namespace shove::bench
