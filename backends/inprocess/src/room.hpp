#pragma once

#include <shove/message.hpp>

#include <cstddef>
#include <optional>

namespace shove::in_memory {

/// How much a queue may hold, and holds. A message keeps its place until it leaves the queue for
/// good: ready, in flight and delayed ones count alike, so that a settlement never lacks room.
/// @par Thread safety  None; the queue's lock guards it.
class room {
public:
    room(std::size_t capacity, std::optional<std::size_t> max_bytes) noexcept
        : capacity_(capacity), max_bytes_(max_bytes) {}

    /// Bytes that count against `max_bytes`; not looked at where there is no such limit.
    std::size_t weigh(const message& msg) const noexcept {
        return max_bytes_ ? msg.payload().size() + msg.headers().encoded().size() : 0;
    }
    bool fits(std::size_t bytes) const noexcept {
        return messages_ < capacity_ && (!max_bytes_ || bytes <= *max_bytes_ - bytes_);
    }
    /// True if it would not fit into an empty queue either.
    bool never_fits(std::size_t bytes) const noexcept { return max_bytes_ && bytes > *max_bytes_; }
    void enter(std::size_t bytes) noexcept {
        ++messages_;
        bytes_ += bytes;
    }
    void leave(std::size_t messages, std::size_t bytes) noexcept {
        messages_ -= messages;
        bytes_ -= bytes;
    }

    std::size_t capacity() const noexcept { return capacity_; }
    std::optional<std::size_t> max_bytes() const noexcept { return max_bytes_; }

private:
    std::size_t capacity_;
    std::optional<std::size_t> max_bytes_;
    std::size_t messages_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace shove::in_memory
