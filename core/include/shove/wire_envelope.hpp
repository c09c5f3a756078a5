#pragma once

#include <shove/error.hpp>
#include <shove/lease_message.hpp>

#include <cstddef>
#include <string>
#include <string_view>

/// Wire envelope v1: a message in bytes, to hand it on outside a store. Byte for byte the envelope of rullst-messaging:
///
///     "RLMWIRE" 01 · id · namespace · topic · event kind · content type · i64 published, ms · u16 headers ·
///     (name · value)… · u32 length · payload
///
/// with big-endian integers, and texts after their length as u16. Each message has one form: names of headers rise,
/// nothing follows the payload. It carries no key, no attempt and no sequence.
/// @par Thread safety  Pure functions.
/// @par Blocking       None of them does.
namespace shove {

/// What is checked beside the form.
struct wire_limits {
    std::string name_space = "default";     ///< Envelopes of another are refused.
    std::size_t payload_bytes = 1'048'576;  ///< Up to 16 MiB (16,777,216).
};

/// The most bytes that an envelope has: its payload, and 9,026.
std::size_t max_wire_bytes(const wire_limits& limits) noexcept;

/// Its `sequence` is not encoded.
/// @par Errors  `errc::invalid_envelope`: a value breaks a rule of `lease_message`, or the limits; the detail names it.
result<std::string> encode_wire(const lease_envelope& envelope, const wire_limits& limits = {});

/// Reads bytes from anywhere. What was read, encoded again, gives the same bytes; its `sequence` is 0.
/// @par Errors  `errc::unsupported_envelope`: another version. `errc::invalid_envelope`: all else; the detail says at
///              which field, and repeats nothing of the bytes. Trace headers are not judged here (`read_trace`).
result<lease_envelope> decode_wire(std::string_view bytes, const wire_limits& limits = {});

}  // namespace shove
