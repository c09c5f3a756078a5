#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace simdjson::internal {
class dom_parser_implementation;
}

namespace shove::detail {

/// simdjson's tokenizer with its memory, and a copy of the document that is being read.
///
/// Only simdjson's first stage is used: it finds the start of each token and validates UTF-8 and
/// strings' control characters, with the fastest instructions of the running machine. Its DOM
/// would copy each value twice, its on-demand reader does not validate what it skips.
class json_scratch {
public:
    json_scratch();
    ~json_scratch();
    json_scratch(const json_scratch&) = delete;
    json_scratch& operator=(const json_scratch&) = delete;

    /// Copies the document and finds its tokens.
    /// @return What is wrong with it, or null.
    const char* tokenize(std::span<const std::byte> bytes);

    /// The document, ended by zeros.
    char* text() { return text_.get(); }
    /// Where its tokens start; one more, after the last, is the document's size.
    const std::uint32_t* tokens() const;
    std::size_t token_count() const;
    /// For texts that have no place of their own.
    std::string& spare() { return spare_; }
    /// The largest document that needs no new memory.
    std::size_t capacity() const { return capacity_; }
    /// Gives back what a document over 1 MiB needed.
    void trim();

private:
    void reserve(std::size_t size);

    std::unique_ptr<simdjson::internal::dom_parser_implementation> parser_;
    std::unique_ptr<char[]> text_;
    std::size_t capacity_ = 0;
    std::string spare_;
};

/// Trims a scratch at the end of its use.
struct json_trim_guard {
    json_scratch& scratch;
    ~json_trim_guard() { scratch.trim(); }
};

}  // namespace shove::detail
