#pragma once

#include <shove/headers.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace shove {

/// A moment of the calendar, to the microsecond. The epoch itself means "unknown" or "none".
using wall_time = std::chrono::sys_time<std::chrono::microseconds>;

/// Room for the text of a message id.
using id_buffer = std::array<char, 36>;

/// What a message is made of; the views must live until `message::make` returns.
struct message_parts {
    const std::byte* uuid = nullptr;      ///< The 16 bytes of a UUID, in place of `id`.
    std::string_view id;                  ///< At most 255 bytes; empty: none.
    std::optional<std::string_view> key;  ///< The sequence or partition key.
    std::string_view content_type;        ///< At most 255 bytes.
    std::string_view type;                ///< The message type's name, at most 255 bytes.
    std::span<const std::byte> payload;
    headers_view headers;
    wall_time published_at{};
    wall_time expires_at{};
};

/// One message as it travels: immutable, one block of memory, shared by reference count.
/// A block costs 24 bytes beside what it holds; an id that is a canonical lower-case UUID takes 16.
/// @par Thread safety  Distinct handles may be used from several threads.
class message {
public:
    message() noexcept = default;
    /// Copies all parts into one block. Throws `exception` where a part is over its limit.
    static message make(const message_parts& parts);
    /// As `make`, but the payload stays where it is; `owner` keeps it alive.
    static message make(const message_parts& parts, std::shared_ptr<const void> owner);

    message(const message& other) noexcept : block_(other.block_) { retain(); }
    message(message&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
    message& operator=(message other) noexcept {
        std::swap(block_, other.block_);
        return *this;
    }
    ~message() { release(); }

    explicit operator bool() const noexcept { return block_ != nullptr; }

    /// The id; it points into the message or into `buffer`.
    std::string_view id(id_buffer& buffer) const noexcept;
    std::string id() const;
    std::optional<std::string_view> key() const noexcept;
    std::string_view content_type() const noexcept;
    std::string_view type() const noexcept;
    std::span<const std::byte> payload() const noexcept;
    headers_view headers() const noexcept;
    wall_time published_at() const noexcept;
    wall_time expires_at() const noexcept;
    /// All parts as views into the message and `buffer`; to make a changed copy.
    message_parts parts(id_buffer& buffer) const noexcept;
    /// Bytes of memory of the block.
    std::size_t footprint() const noexcept;
    /// Has the processor load the first 256 bytes: for who is about to look at many messages, in no order of memory.
    void prefetch() const noexcept {
        for (std::size_t at = 0; at < 256; at += 64)
            __builtin_prefetch(reinterpret_cast<const char*>(block_) + at);
    }

private:
    struct block;
    explicit message(block* b) noexcept : block_(b) {}
    void retain() const noexcept;
    void release() noexcept;
    block* block_ = nullptr;
};

}  // namespace shove
