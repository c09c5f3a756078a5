#include <shove/protobuf.hpp>

#include <google/protobuf/message_lite.h>

#include <cstdint>
#include <limits>

namespace shove {
namespace {

using google::protobuf::MessageLite;

constexpr std::size_t max_bytes = std::numeric_limits<int>::max();

error failed(errc code, const MessageLite& message, std::string_view what) {
    return {code, message.GetTypeName().append(": ").append(what)};
}

/// Required fields without a value; both directions refuse them.
error incomplete(errc code, const MessageLite& message) {
    return failed(code, message, "missing required fields: " + message.InitializationErrorString());
}

std::string over_limit(std::size_t size) {
    return std::to_string(size) + " bytes, protobuf's limit is " + std::to_string(max_bytes);
}

}  // namespace

result<void> protobuf::encode(const MessageLite& message, std::string& out) {
    if (!message.IsInitialized()) return incomplete(errc::encode_failed, message);
    const std::size_t size = message.ByteSizeLong();
    if (size > max_bytes) return failed(errc::encode_failed, message, over_limit(size));
    const std::size_t from = out.size();
    out.resize(from + size);
    // The sizes that ByteSizeLong() has just noted in the message are used.
    message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(out.data() + from));
    return {};
}

result<void> protobuf::decode(std::span<const std::byte> bytes, MessageLite& into, decode_scratch&) {
    if (bytes.size() > max_bytes) return failed(errc::decode_failed, into, over_limit(bytes.size()));
    // The partial form: the other one prints what is missing to stderr.
    if (!into.ParsePartialFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
        return failed(errc::decode_failed, into, "not a message of this type, or cut off");
    }
    if (!into.IsInitialized()) return incomplete(errc::decode_failed, into);
    return {};
}

}  // namespace shove
