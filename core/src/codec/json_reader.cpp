#include <shove/detail/json_reader.hpp>

#include "json_scalar.hpp"
#include "json_scratch.hpp"
#include "small_text.hpp"

#include <array>
#include <cstring>

namespace shove::detail {

/// Which fields of an object have been read.
struct json_reader::seen_fields {
    std::array<std::uint64_t, 4> words{};

    /// Marks a field; false if it was marked before.
    bool mark(std::size_t index) {
        auto& word = words[index / 64];
        const auto bit = std::uint64_t{1} << (index % 64);
        const bool first = (word & bit) == 0;
        word |= bit;
        return first;
    }
    bool has(std::size_t index) const { return (words[index / 64] >> (index % 64) & 1) != 0; }
    /// True if all of the first `size` fields are marked; false may also mean that there are many.
    bool complete(std::size_t size) const { return size < 64 && words[0] == (std::uint64_t{1} << size) - 1; }
};

json_reader::json_reader(json_scratch& scratch, const json_limits& limits)
    : text_(scratch.text()),
      next_(scratch.tokens()),
      end_(scratch.tokens() + scratch.token_count()),
      limits_(limits),
      scratch_(scratch) {}

/// All between the next token's start and the one after it, without the white space at its end.
std::string_view json_reader::trimmed_token() const {
    const char* const first = text_ + next_[0];
    const char* last = text_ + next_[1];
    while (last != first && (last[-1] == ' ' || last[-1] == '\n' || last[-1] == '\r' || last[-1] == '\t'))
        --last;
    return {first, static_cast<std::size_t>(last - first)};
}

bool json_reader::enter(char open, std::string_view wanted) {
    if (!take(open)) return fail_expected(wanted);
    if (depth_ == limits_.max_depth) {
        return fail("arrays and objects more than " + std::to_string(limits_.max_depth) + " levels deep");
    }
    ++depth_;
    return true;
}

bool json_reader::leave(char close) {
    if (!take(close)) return fail_syntax();
    --depth_;
    return true;
}

/// Takes a key and its colon; gives the text between the quotes.
bool json_reader::key(std::string_view& raw) {
    if (peek() != '"') return fail_syntax();
    const auto text = token();
    ++next_;
    if (!take(':')) return fail_syntax();
    raw = text.substr(1, text.size() - 2);
    return true;
}

/// Gives the text with its escapes replaced; it may live in the spare text.
bool json_reader::unescaped(std::string_view raw, std::string_view& text) {
    text = raw;
    if (raw.empty() || std::memchr(raw.data(), '\\', raw.size()) == nullptr) return true;
    if (!unescape(raw, scratch_.spare())) return fail("an invalid escape in a string");
    text = scratch_.spare();
    return true;
}

/// Takes a string; the text is valid until the next one is taken.
bool json_reader::string_text(std::string_view wanted, std::string_view& text) {
    if (peek() != '"') return fail_expected(wanted);
    const auto quoted = token();
    if (!unescaped(quoted.substr(1, quoted.size() - 2), text)) return false;
    ++next_;
    return true;
}

bool json_reader::bounded_text(std::string_view wanted, std::string_view& text) {
    if (!string_text(wanted, text)) return false;
    if (text.size() <= limits_.max_string_bytes) return true;
    return fail("a string of more than " + std::to_string(limits_.max_string_bytes) + " bytes");
}

bool json_reader::object(void* into, std::span<const json_field> fields) {
    if (!enter('{', "an object")) return false;
    seen_fields seen;
    std::size_t expected = 0;
    if (peek() != '}') {
        do {
            if (!member(into, fields, seen, expected)) return false;
        } while (take(','));
    }
    return leave('}') && finish_object(into, fields, seen);
}

/// Takes the key and its colon if it is this one, written without escapes.
bool json_reader::take_key(std::string_view name) {
    const char* const at = text_ + next_[0];
    if (next_[1] - next_[0] < name.size() + 2 || text_[next_[1]] != ':') return false;
    if (at[0] != '"' || at[name.size() + 1] != '"' || !equal_texts({at + 1, name.size()}, name)) return false;
    next_ += 2;
    return true;
}

/// Reads one member. `expected` is the field after the last one, which it most likely is.
bool json_reader::member(void* into, std::span<const json_field> fields, seen_fields& seen, std::size_t& expected) {
    auto index = expected;
    if (index >= fields.size() || !take_key(fields[index].name)) {
        std::string_view name;
        if (!key(name) || !unescaped(name, name)) return false;
        for (index = 0; index < fields.size() && !equal_texts(fields[index].name, name);)
            ++index;
        if (index == fields.size()) return skip();
    }
    expected = index + 1;
    const json_field& field = fields[index];
    const bool ok = seen.mark(index) ? field.read(*this, into) : fail("a duplicate key");
    return ok || in_member(field.name);
}

bool json_reader::finish_object(void* into, std::span<const json_field> fields, const seen_fields& seen) {
    if (seen.complete(fields.size())) return true;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (seen.has(i)) continue;
        if (fields[i].absent == nullptr) {
            fail("the required field is missing");
            return in_member(fields[i].name);
        }
        fields[i].absent(into);
    }
    return true;
}

bool json_reader::map(void* into, bool (*entry)(json_reader&, void* map, std::string_view key)) {
    if (!enter('{', "an object")) return false;
    if (take('}')) return --depth_, true;
    std::size_t index = 0;
    do {
        std::string_view name;
        if (!key(name) || !unescaped(name, name)) return false;
        const bool fits = name.size() <= limits_.max_string_bytes;
        const bool ok = fits ? entry(*this, into, name) : fail("the key is longer than a string may be");
        if (!ok) return in_entry(index);
        ++index;
    } while (take(','));
    return leave('}');
}

bool json_reader::array(void* into, bool (*element)(json_reader&, void* array, std::size_t index), std::size_t& count,
                        std::size_t most) {
    count = 0;
    if (!enter('[', "an array")) return false;
    if (take(']')) return --depth_, true;
    do {
        if (count == most) return fail("expected an array of " + std::to_string(most) + " elements, found more");
        if (!element(*this, into, count)) return in_index(count);
        ++count;
    } while (take(','));
    return leave(']');
}

bool json_reader::fixed_array(void* into, bool (*element)(json_reader&, void* array, std::size_t index),
                              std::size_t size) {
    std::size_t count = 0;
    if (!array(into, element, count, size)) return false;
    if (count == size) return true;
    return fail("expected an array of " + std::to_string(size) + " elements, found " + std::to_string(count));
}

bool json_reader::skip() {
    switch (peek()) {
        case '{':
            return skip_object();
        case '[':
            return skip_array();
        case '"':
            return skip_string();
        default:
            break;
    }
    const auto text = token();
    if (text != "true" && text != "false" && text != "null" && !is_number(text)) return fail_syntax();
    ++next_;
    return true;
}

bool json_reader::skip_object() {
    if (!enter('{', "an object")) return false;
    if (take('}')) return --depth_, true;
    do {
        std::string_view name;
        if (!key(name) || !unescaped(name, name) || !skip()) return false;
    } while (take(','));
    return leave('}');
}

bool json_reader::skip_array() {
    if (!enter('[', "an array")) return false;
    if (take(']')) return --depth_, true;
    do {
        if (!skip()) return false;
    } while (take(','));
    return leave(']');
}

bool json_reader::skip_string() {
    std::string_view text;
    return string_text("a string", text);
}

bool json_reader::finish() {
    return next_ == end_ || fail_syntax();
}

result<void> json_decode(std::span<const std::byte> bytes, decode_scratch& scratch, const json_limits& limits,
                         void* into, bool (*read)(json_reader&, void* into)) {
    if (bytes.size() > limits.max_document_bytes) {
        return error(errc::decode_failed,
                     "$: a document of more than " + std::to_string(limits.max_document_bytes) + " bytes");
    }
    json_scratch& memory = scratch.json();
    const json_trim_guard guard{memory};
    if (const char* problem = memory.tokenize(bytes)) return error(errc::decode_failed, std::string("$: ") + problem);
    json_reader reader(memory, limits);
    if (read(reader, into) && reader.finish()) return {};
    return error(errc::decode_failed, reader.problem());
}

}  // namespace shove::detail
