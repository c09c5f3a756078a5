#include <shove/codec.hpp>

#include "json_scratch.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace shove {

decode_scratch::decode_scratch() = default;
decode_scratch::~decode_scratch() = default;
decode_scratch::decode_scratch(decode_scratch&&) noexcept = default;
decode_scratch& decode_scratch::operator=(decode_scratch&&) noexcept = default;

detail::json_scratch& decode_scratch::json() {
    if (!json_) json_ = std::make_unique<detail::json_scratch>();
    return *json_;
}

namespace detail {
namespace {

constexpr std::size_t first_capacity = 4096;
constexpr std::size_t kept_capacity = std::size_t{1} << 20;

const char* problem_of(simdjson::error_code code) {
    switch (code) {
        case simdjson::SUCCESS:
            return nullptr;
        case simdjson::EMPTY:
            return "the document is empty";
        case simdjson::UTF8_ERROR:
            return "invalid UTF-8";
        case simdjson::UNESCAPED_CHARS:
            return "a control character inside a string";
        case simdjson::UNCLOSED_STRING:
            return "a string that does not end";
        default:
            return "invalid JSON";
    }
}

}  // namespace

json_scratch::json_scratch() = default;
json_scratch::~json_scratch() = default;

void json_scratch::reserve(std::size_t size) {
    if (size <= capacity_) return;
    const auto capacity = size > kept_capacity ? size : std::max(first_capacity, std::min(2 * size, kept_capacity));
    capacity_ = 0;
    text_ = std::make_unique_for_overwrite<char[]>(capacity + simdjson::SIMDJSON_PADDING);
    const auto failed =
        parser_ ? parser_->set_capacity(capacity)
                : simdjson::get_active_implementation()->create_dom_parser_implementation(capacity, 1, parser_);
    if (failed) throw std::bad_alloc();
    capacity_ = capacity;
}

const char* json_scratch::tokenize(std::span<const std::byte> bytes) {
    if (bytes.empty()) return problem_of(simdjson::EMPTY);
    if (bytes.size() >= simdjson::SIMDJSON_MAXSIZE_BYTES) return "a document of 4 GiB or more";
    reserve(bytes.size());
    std::memcpy(text_.get(), bytes.data(), bytes.size());
    std::memset(text_.get() + bytes.size(), 0, simdjson::SIMDJSON_PADDING);
    return problem_of(parser_->stage1(reinterpret_cast<const std::uint8_t*>(text_.get()), bytes.size(),
                                      simdjson::stage1_mode::regular));
}

const std::uint32_t* json_scratch::tokens() const {
    return parser_->structural_indexes.get();
}

std::size_t json_scratch::token_count() const {
    return parser_->n_structural_indexes;
}

void json_scratch::trim() {
    if (capacity_ > kept_capacity) {
        parser_.reset();
        text_.reset();
        capacity_ = 0;
    }
    if (spare_.capacity() > kept_capacity) spare_ = std::string();
}

}  // namespace detail
}  // namespace shove
