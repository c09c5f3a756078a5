#pragma once

#include <shove/codec.hpp>
#include <shove/detail/json_limits.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace shove::detail {

/// A key ready to be copied: a comma, the name in quotes and a colon. At least 16 bytes can be read
/// at `text`, whatever the size.
struct json_prepared_key {
    const char* text;
    std::size_t size;

    std::string_view name() const { return {text + 2, size - 4}; }
};

/// Writes one JSON value after another and sets the commas. It appends to a string through a
/// small buffer: `flush()` or the destructor completes it.
///
///     json_writer writer(line);
///     writer.begin_object();
///     writer.key("id");
///     writer.string(id);
///     writer.end_object();
///     writer.flush();
///
/// Each function answers false for a value that JSON cannot hold (invalid UTF-8, a number that is
/// not finite, too deep); it has then written nothing, and `problem()` has the reason of the first.
/// That keys and values alternate, and that what begins ends, is the caller's duty.
class json_writer {
public:
    /// @param out  Appended to; must outlive the writer and not be touched before `flush()`.
    explicit json_writer(std::string& out, const json_limits& limits = {});
    ~json_writer();
    json_writer(const json_writer&) = delete;
    json_writer& operator=(const json_writer&) = delete;

    bool begin_object() { return begin('{'); }
    void end_object() { end('}'); }
    bool begin_array() { return begin('['); }
    void end_array() { end(']'); }

    bool key(std::string_view name);
    /// A key that needs no escapes, such as a C++ name. Not checked.
    void plain_key(std::string_view name);
    void prepared_key(const json_prepared_key& key);

    void null();
    void boolean(bool value);
    void integer(std::int64_t value);
    void unsigned_integer(std::uint64_t value);
    bool number(double value);
    /// The shortest text that gives the same `float`.
    bool number(float value);
    bool string(std::string_view text);
    /// Never fails on UTF-8: each invalid byte becomes U+FFFD.
    bool lossy_string(std::string_view text);
    /// As a base64 string.
    bool bytes(std::span<const std::byte> value);
    /// RFC 3339 in UTC: `count` units of `num / den` seconds since 1970.
    bool time(std::int64_t count, std::int64_t num, std::int64_t den);
    /// A complete JSON value, written as it is. Not checked.
    void raw_json(std::string_view value);

    /// Gives what was written so far to the string.
    void flush();
    /// Fails with a reason of the caller's.
    bool fail(std::string_view reason);
    /// Add one step to the failure's path, from the inside out.
    bool in_member(std::string_view name);
    bool in_index(std::size_t index);
    bool in_entry(std::size_t index);
    /// Path and reason of the failure; empty without one.
    std::string problem() const;

private:
    bool begin(char open);
    void end(char close);
    /// Room for so many bytes in a row, at most the buffer's size.
    char* room(std::size_t size) {
        if (buffer_.size() - used_ < size) flush();
        return buffer_.data() + used_;
    }
    void put(char c) {
        *room(1) = c;
        ++used_;
    }
    void separate() {
        if (comma_) put(',');
        comma_ = true;
    }
    void put(const char* text, std::size_t size);
    void put_digits(std::uint64_t value);
    bool put_plain(std::string_view text);
    bool fits(std::size_t size);
    void put_escaped(std::string_view text);
    void put_escape(char c);
    template <class T>
    bool floating(T value);

    std::string& out_;
    std::size_t used_ = 0;
    std::size_t depth_ = 0;
    bool comma_ = false;
    json_limits limits_;
    std::string path_;
    std::string reason_;
    std::array<char, 512> buffer_;
};

/// Encodes a value by one call of `write`; the border between templates and the library. On an
/// error `out` is as it was.
result<void> json_encode(const void* from, std::string& out, const json_limits& limits,
                         bool (*write)(json_writer&, const void* from));

}  // namespace shove::detail
