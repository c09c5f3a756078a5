#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace shove {

/// What a header's value is. `foreign` holds a value of another client that has no type here; its
/// bytes go through retry, dead letter and replay unchanged, and only its driver can read them.
enum class header_type : std::uint8_t { none, boolean, integer, floating, text, binary, foreign };

/// A header's value, not owned.
class header_value {
public:
    header_value() = default;
    header_value(bool v) : type_(header_type::boolean), integer_(v ? 1 : 0) {}
    header_value(int v) : header_value(static_cast<std::int64_t>(v)) {}
    header_value(std::int64_t v) : type_(header_type::integer), integer_(v) {}
    header_value(double v) : type_(header_type::floating), floating_(v) {}
    header_value(std::string_view v) : type_(header_type::text), bytes_(v) {}
    header_value(const std::string& v) : header_value(std::string_view(v)) {}
    header_value(const char* v) : header_value(std::string_view(v)) {}
    header_value(std::span<const std::byte> v)
        : type_(header_type::binary), bytes_(reinterpret_cast<const char*>(v.data()), v.size()) {}
    /// For drivers: a value kept as the broker's own bytes.
    static header_value foreign(std::string_view bytes) {
        header_value v(bytes);
        v.type_ = header_type::foreign;
        return v;
    }

    header_type type() const noexcept { return type_; }
    /// The value as a number; a text that is a decimal number counts too.
    std::optional<std::int64_t> as_integer() const noexcept;
    std::optional<double> as_floating() const noexcept;
    std::optional<bool> as_boolean() const noexcept;
    /// The characters of a text; nothing for other types.
    std::optional<std::string_view> as_text() const noexcept;
    /// The bytes of a text, a binary or a foreign value; empty for other types.
    std::string_view bytes() const noexcept { return bytes_; }
    /// The value for people: numbers in decimal, texts as they are, binary in base64.
    std::string to_string() const;

    friend bool operator==(const header_value& a, const header_value& b) noexcept;

private:
    header_type type_ = header_type::none;
    std::int64_t integer_ = 0;
    double floating_ = 0;
    std::string_view bytes_;
};

/// One header.
struct header {
    std::string_view name;
    header_value value;
};

/// A list of headers, not owned: what a delivery shows. Keeps order and repeated names.
class headers_view {
public:
    headers_view() = default;
    /// From the encoded form of `headers::encoded`, which must be well-formed.
    explicit headers_view(std::string_view encoded) : encoded_(encoded) {}

    class iterator {
    public:
        using value_type = header;
        using difference_type = std::ptrdiff_t;
        using iterator_category = std::input_iterator_tag;
        using pointer = const header*;
        using reference = const header&;

        iterator() = default;
        explicit iterator(std::string_view rest) : rest_(rest) { read(); }
        const header& operator*() const noexcept { return current_; }
        const header* operator->() const noexcept { return &current_; }
        iterator& operator++() {
            read();
            return *this;
        }
        iterator operator++(int) {
            auto old = *this;
            read();
            return old;
        }
        friend bool operator==(const iterator& a, const iterator& b) noexcept {
            return a.at_end_ == b.at_end_ && (a.at_end_ || a.rest_.data() == b.rest_.data());
        }

    private:
        void read();
        std::string_view rest_;
        header current_;
        bool at_end_ = true;
    };

    iterator begin() const { return encoded_.empty() ? iterator() : iterator(encoded_); }
    iterator end() const { return {}; }
    bool empty() const noexcept { return encoded_.empty(); }
    std::size_t size() const;
    /// The first header of that name (exact case), or nothing.
    std::optional<header_value> find(std::string_view name) const;
    /// The first header of that name if it is a text; else nothing.
    std::optional<std::string_view> text(std::string_view name) const;
    /// The encoded form, for drivers that keep headers as one block of bytes.
    std::string_view encoded() const noexcept { return encoded_; }

private:
    std::string_view encoded_;
};

/// A list of headers, owned: what a publisher gives. Keeps order and repeated names.
/// @par Thread safety  As a container.
class headers {
public:
    headers() = default;
    headers(std::initializer_list<header> list);
    explicit headers(headers_view view) : encoded_(view.encoded()) {}

    /// Appends a header. Names are at most 65,535 bytes; longer ones throw `exception`.
    headers& add(std::string_view name, header_value value);
    /// Removes all headers of that name (exact case), then appends this one.
    headers& set(std::string_view name, header_value value);
    /// Removes all headers of that name (exact case).
    headers& remove(std::string_view name);
    bool empty() const noexcept { return encoded_.empty(); }
    headers_view view() const noexcept { return headers_view(encoded_); }
    operator headers_view() const noexcept { return view(); }
    auto begin() const { return view().begin(); }
    auto end() const { return view().end(); }

    /// True if `encoded` is a well-formed encoded list: use it on bytes from outside.
    static bool well_formed(std::string_view encoded) noexcept;

private:
    std::string encoded_;
};

/// The header name prefixes that only shove may set (compared without case): a publish that
/// uses one is refused with `errc::reserved_header`.
std::span<const std::string_view> reserved_header_prefixes() noexcept;
bool is_reserved_header(std::string_view name) noexcept;

}  // namespace shove
