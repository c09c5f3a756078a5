#include <shove/detail/json_reader.hpp>
#include <shove/detail/json_text.hpp>

#include "json_scratch.hpp"

namespace shove::detail {
namespace {

constexpr json_limits text_limits{.max_depth = 1024, .max_string_bytes = SIZE_MAX, .max_document_bytes = SIZE_MAX};

bool is_valid(std::span<const std::byte> bytes, json_scratch& memory) {
    if (memory.tokenize(bytes) != nullptr) return false;
    json_reader reader(memory, text_limits);
    return reader.skip() && reader.finish();
}

bool is_space(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/// Appends each token without the white space after it.
void append_tokens(json_scratch& memory, std::string& out) {
    const char* const text = memory.text();
    const auto* const starts = memory.tokens();
    for (std::size_t i = 0; i < memory.token_count(); ++i) {
        auto end = starts[i + 1];
        while (is_space(text[end - 1]))
            --end;
        out.append(text + starts[i], text + end);
    }
}

}  // namespace

bool is_valid_json(std::span<const std::byte> bytes, decode_scratch& scratch) {
    json_scratch& memory = scratch.json();
    const json_trim_guard guard{memory};
    return is_valid(bytes, memory);
}

bool is_valid_json(std::span<const std::byte> bytes) {
    decode_scratch scratch;
    return is_valid_json(bytes, scratch);
}

bool compact_json(std::span<const std::byte> bytes, std::string& out, decode_scratch& scratch) {
    json_scratch& memory = scratch.json();
    const json_trim_guard guard{memory};
    if (!is_valid(bytes, memory)) return false;
    append_tokens(memory, out);
    return true;
}

bool compact_json(std::span<const std::byte> bytes, std::string& out) {
    decode_scratch scratch;
    return compact_json(bytes, out, scratch);
}

}  // namespace shove::detail
