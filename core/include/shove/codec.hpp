#pragma once

#include <shove/error.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shove {

namespace detail {
class json_scratch;
}

/// Memory that decoders reuse from message to message. The engine keeps one per worker.
/// @par Thread safety  One thread at a time.
class decode_scratch {
public:
    decode_scratch();
    ~decode_scratch();
    decode_scratch(decode_scratch&&) noexcept;
    decode_scratch& operator=(decode_scratch&&) noexcept;

    /// The JSON decoder's parser and buffer, made on first use.
    detail::json_scratch& json();

private:
    std::unique_ptr<detail::json_scratch> json_;
};

/// A codec turns messages of type `M` into bytes and back. A user's own codec is any type with
/// these three members:
///  - `static constexpr std::string_view content_type`, stored with each message;
///  - `static result<void> encode(const M&, std::string& out)`, which appends to `out`;
///  - `static result<void> decode(std::span<const std::byte>, M& into, decode_scratch&)`.
/// Both functions may be called from several threads at once.
/// A codec whose `decode` wholly replaces what `into` held before may say so with
/// `static constexpr bool replaces = true`: then one message object is used again and again, and keeps its memory.
template <class C, class M>
concept codec_for =
    requires(const M& in, M& into, std::string& out, std::span<const std::byte> bytes, decode_scratch& scratch) {
        { C::content_type } -> std::convertible_to<std::string_view>;
        { C::encode(in, out) } -> std::same_as<result<void>>;
        { C::decode(bytes, into, scratch) } -> std::same_as<result<void>>;
    };

namespace detail {

template <class C>
inline constexpr bool replaces_whole = false;
template <class C>
    requires requires {
        { C::replaces } -> std::convertible_to<bool>;
    }
inline constexpr bool replaces_whole<C> = C::replaces;

}  // namespace detail

/// Bytes as they are. The message type is `std::vector<std::byte>` or `std::string`.
struct raw {
    static constexpr std::string_view content_type = "application/octet-stream";
    static constexpr bool replaces = true;

    static result<void> encode(const std::string& in, std::string& out) {
        out += in;
        return {};
    }
    static result<void> encode(const std::vector<std::byte>& in, std::string& out) {
        out.append(reinterpret_cast<const char*>(in.data()), in.size());
        return {};
    }
    static result<void> decode(std::span<const std::byte> bytes, std::string& into, decode_scratch&) {
        into.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return {};
    }
    static result<void> decode(std::span<const std::byte> bytes, std::vector<std::byte>& into, decode_scratch&) {
        into.assign(bytes.begin(), bytes.end());
        return {};
    }
};

}  // namespace shove
