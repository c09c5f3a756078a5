#pragma once

#include <shove/codec.hpp>
#include <shove/detail/json_limits.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shove::detail {

class json_reader;

/// One field of a described struct. `absent` gives it the value of a missing field; it is null
/// where the field is required.
struct json_field {
    std::string_view name;
    bool (*read)(json_reader&, void* object) = nullptr;
    void (*absent)(void* object) = nullptr;
};

/// One alternative of a variant. `select` makes it current without a content; it is null where
/// the alternative has a content. The tag of `std::monostate` is empty; it stands for null.
struct json_alternative {
    std::string_view tag;
    bool (*read)(json_reader&, void* variant) = nullptr;
    void (*select)(void* variant) = nullptr;
};

/// One name of a described enum; the value is converted to 64 bits.
struct json_enumerator {
    std::string_view name;
    std::uint64_t value = 0;
};

/// The unit of a time point, `num / den` seconds, and the limits of its count.
struct json_time_unit {
    std::int64_t num = 1;
    std::int64_t den = 1;
    std::int64_t least = INT64_MIN;
    std::int64_t most = INT64_MAX;
};

/// Reads one JSON document from its tokens, strictly: whatever the caller does not ask for is
/// validated too. Each function reads one value and answers false after the first error; then
/// the innermost one has kept the reason, and each outer one adds its step to the path.
class json_reader {
public:
    json_reader(json_scratch& scratch, const json_limits& limits);
    json_reader(const json_reader&) = delete;
    json_reader& operator=(const json_reader&) = delete;

    bool boolean(bool& into);
    bool signed_integer(std::int64_t& into, std::int64_t least, std::int64_t most);
    bool unsigned_integer(std::uint64_t& into, std::uint64_t most);
    bool number(double& into);
    bool number(float& into);
    bool string(std::string& into);
    /// Base64, into a vector or into a span of exactly the right size.
    bool bytes(std::vector<std::byte>& into);
    bool bytes(std::span<std::byte> into);
    bool enumerator(std::uint64_t& into, std::span<const json_enumerator> names);
    /// An RFC 3339 time, as a count of `unit` since 1970.
    bool time(std::int64_t& into, const json_time_unit& unit);
    /// Takes a null if the next value is one; never fails.
    bool null();

    bool object(void* into, std::span<const json_field> fields);
    bool variant(void* into, std::span<const json_alternative> alternatives);
    /// Calls `entry` for each member; the key is valid until `entry` reads the value.
    bool map(void* into, bool (*entry)(json_reader&, void* map, std::string_view key));
    /// Calls `element` for each element, `most` times at most; `count` is how many there were.
    bool array(void* into, bool (*element)(json_reader&, void* array, std::size_t index), std::size_t& count,
               std::size_t most = SIZE_MAX);
    /// The same for exactly `size` elements.
    bool fixed_array(void* into, bool (*element)(json_reader&, void* array, std::size_t index), std::size_t size);

    /// A map's key as a number or an enumerator.
    bool signed_key(std::string_view key, std::int64_t& into, std::int64_t least, std::int64_t most);
    bool unsigned_key(std::string_view key, std::uint64_t& into, std::uint64_t most);
    bool enumerator_key(std::string_view key, std::uint64_t& into, std::span<const json_enumerator> names);
    /// Fails because of a key that the map holds already.
    bool duplicate_key();

    /// Reads any one value and ignores it.
    bool skip();
    /// Fails unless the document ends here.
    bool finish();
    /// Path and reason of the failure.
    std::string problem() const;

private:
    struct seen_fields;

    char peek() const { return text_[*next_]; }
    std::string_view token() const {
        const auto last = next_[1];
        if (text_[last - 1] <= ' ') return trimmed_token();
        return {text_ + next_[0], last - next_[0]};
    }
    std::string_view trimmed_token() const;
    bool take(char structural) {
        const bool found = peek() == structural;
        next_ += found ? 1 : 0;
        return found;
    }
    bool enter(char open, std::string_view wanted);
    bool leave(char close);
    bool take_key(std::string_view name);
    bool key(std::string_view& raw);
    bool unescaped(std::string_view raw, std::string_view& text);
    bool string_text(std::string_view wanted, std::string_view& text);
    bool bounded_text(std::string_view wanted, std::string_view& text);
    bool member(void* into, std::span<const json_field> fields, seen_fields& seen, std::size_t& expected);
    bool finish_object(void* into, std::span<const json_field> fields, const seen_fields& seen);
    bool unit_alternative(void* into, std::span<const json_alternative> alternatives);
    bool tagged_alternative(void* into, std::span<const json_alternative> alternatives);
    bool skip_object();
    bool skip_array();
    bool skip_string();
    template <class T>
    bool floating(T& into);

    bool fail(std::string reason);
    bool fail_expected(std::string_view wanted);
    bool fail_syntax();
    bool fail_number(std::string_view wanted);
    bool fail_range(std::string_view least, std::string_view most);
    bool in_member(std::string_view name);
    bool in_index(std::size_t index);
    bool in_entry(std::size_t index);
    std::string_view found() const;

    const char* text_;
    const std::uint32_t* next_;  // the next token's position; a last one stands at the end of the text
    const std::uint32_t* end_;
    std::size_t depth_ = 0;
    json_limits limits_;
    json_scratch& scratch_;
    std::string path_;
    std::string reason_;
};

/// Decodes a document by one call of `read`; the border between templates and the library.
result<void> json_decode(std::span<const std::byte> bytes, decode_scratch& scratch, const json_limits& limits,
                         void* into, bool (*read)(json_reader&, void* into));

}  // namespace shove::detail
