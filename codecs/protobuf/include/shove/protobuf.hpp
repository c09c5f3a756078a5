#pragma once

#include <shove/codec.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace google::protobuf {
class MessageLite;
}

namespace shove {

/// Protocol Buffers: a codec for the classes that protoc generates, full and lite. Of the topic
/// `struct orders : shove::topic<shop::Order, shove::protobuf>` each message is one plain `shop::Order`.
///
/// Fields that the consumer's class does not know are kept, and written again when it is published on. The format does
/// not say which message type bytes are of. Bytes of another type whose fields happen to fit are read as if they
/// were the right one's, the rest as unknown fields: keep one type to a queue.
/// @par Thread safety  Both functions may be called from several threads at once, also with one message to encode.
struct protobuf {
    static constexpr std::string_view content_type = "application/x-protobuf";
    static constexpr bool replaces = true;

    /// Appends the message.
    /// @par Errors  `errc::encode_failed`, and `out` as it was: required fields without a value (named in the detail;
    ///              a lite class does not know their names), or more than 2 GiB, which protobuf cannot write.
    static result<void> encode(const google::protobuf::MessageLite& message, std::string& out);

    /// Replaces `into` by the message in `bytes`. Strings and repeated fields keep their memory.
    /// @par Errors  `errc::decode_failed` with the type's name, never a value: bytes that are cut off or are no
    ///              protobuf, text of proto3 that is not UTF-8, required fields that are missing (named, as in
    ///              `encode`), or more than 2 GiB. `into` is then valid but its value unspecified.
    static result<void> decode(std::span<const std::byte> bytes, google::protobuf::MessageLite& into, decode_scratch&);
};

}  // namespace shove
