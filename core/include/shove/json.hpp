#pragma once

#include <shove/codec.hpp>
#include <shove/detail/json_decode.hpp>
#include <shove/detail/json_encode.hpp>
#include <shove/detail/json_limits.hpp>

namespace shove {

/// JSON, with limits of your own. `json` is the one with the default limits.
///
/// A message is a struct described with `BOOST_DESCRIBE_STRUCT` (or any other type that has a JSON
/// form; docs/guide/codecs.md lists them all). Decoding ignores unknown fields; a missing field, a
/// wrong type, a number out of range, an unknown name or a duplicate key is an error.
/// @par Thread safety  All functions may be called from several threads, each with its own scratch.
template <json_limits Limits>
struct basic_json {
    static constexpr std::string_view content_type = "application/json";
    static constexpr bool replaces = true;

    /// Appends the message as JSON on one line.
    /// @par Errors      `errc::encode_failed` with the path, and `out` as it was: invalid UTF-8 in a
    ///                  string, a number that is not finite, an enum value without a name, a time
    ///                  outside the years 0 to 9999, or a limit passed.
    /// @par Complexity  One pass; memory beyond `out`'s own is not allocated.
    template <class M>
    static result<void> encode(const M& message, std::string& out) {
        return detail::json_encode(&message, out, Limits, &detail::json_write_erased<M>);
    }

    /// Replaces `into` by the message in `bytes`. Strings and vectors keep their capacity.
    /// @par Errors      `errc::decode_failed` with the path, what was expected and what kind of value
    ///                  was found, never the value. `into` is then valid but its value unspecified.
    /// @par Complexity  One copy of the bytes and two passes over them.
    template <class M>
    static result<void> decode(std::span<const std::byte> bytes, M& into, decode_scratch& scratch) {
        return detail::json_decode(bytes, scratch, Limits, &into, &detail::json_read_erased<M>);
    }
};

/// The default codec: JSON with the default limits (64 levels, 16 MiB a string, 64 MiB in all).
struct json : basic_json<json_limits{}> {};

}  // namespace shove
