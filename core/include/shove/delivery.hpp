#pragma once

#include <shove/spi/delivery.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>

namespace shove {

struct trace_context;

namespace detail {

/// What stands behind a `delivery` while its handler runs.
struct delivery_state {
    spi::delivery item;
    std::string_view queue;
    const shove::clock* clock = nullptr;
    std::stop_source stop{std::nostopstate};
    id_buffer id;
    std::shared_ptr<void> kept;                  ///< The handler's message object, where it is used again.
    std::shared_ptr<const trace_context> trace;  ///< Of the call's span, where one was made.
};

/// For the typed front: what stands behind a delivery.
class delivery_access;

}  // namespace detail

/// A message's way to the dead-letter queue.
struct death {
    std::string_view reason;  ///< `rejected`, `max_retries_exceeded`, `oversize`, `deserialize`, `expired`, `crashed`.
    std::string_view original_queue;  ///< Where it was consumed.
    std::uint32_t count = 0;          ///< How often it died.
    wall_time at{};
};

/// One message handed to one handler: its metadata. Views live as long as the handler's call.
/// @par Thread safety  The call's own thread or coroutine; `stop_token()` may be passed on.
class delivery {
public:
    explicit delivery(detail::delivery_state& state) noexcept : state_(&state) {}

    /// The message's id: given at publish, the same through retries and replay. Empty for a foreign
    /// message that has none.
    std::string_view id() const noexcept { return state_->item.msg.id(state_->id); }
    /// The queue it was consumed from.
    std::string_view queue() const noexcept { return state_->queue; }
    /// Which call this is: 1 at first, one more after each retry, exception or timeout; not raised
    /// by defer, an orderly stop or a lost connection.
    std::uint32_t attempt() const noexcept { return (past() ? past()->retries : 0) + 1; }
    /// May have been handled before; may be wrongly true, never wrongly false.
    bool redelivered() const noexcept { return state_->item.redelivered || attempt() > 1; }
    /// How often the broker handed it out, this time included; nothing where it does not count.
    std::optional<std::uint32_t> deliveries() const noexcept {
        return state_->item.deliveries ? std::optional(state_->item.deliveries) : std::nullopt;
    }
    /// When it was published; the epoch if unknown.
    wall_time published_at() const noexcept { return state_->item.msg.published_at(); }
    /// Time since it was published; 0 if that is unknown or in the future.
    milliseconds age() const noexcept;
    /// When it expires, if it does.
    std::optional<wall_time> expires_at() const noexcept;
    std::string_view content_type() const noexcept { return state_->item.msg.content_type(); }
    /// The message type's name as its publisher gave it.
    std::string_view type() const noexcept { return state_->item.msg.type(); }
    std::optional<std::string_view> key() const noexcept { return state_->item.msg.key(); }
    headers_view headers() const noexcept { return state_->item.msg.headers(); }
    std::span<const std::byte> payload() const noexcept { return state_->item.msg.payload(); }
    /// Rises at each takeover of the message's key, where the backend can: give it to a store so
    /// that it refuses an earlier owner.
    std::optional<std::uint64_t> fence() const noexcept { return state_->item.fence; }
    /// Stop is requested when the handler's timeout passes or a drain's deadline comes.
    std::stop_token stop_token() const noexcept { return state_->stop.get_token(); }
    /// The trace that this call belongs to: pass it to `publish_options::trace`. Null if the message carries none, or
    /// one that is not well-formed.
    std::shared_ptr<const trace_context> trace() const;
    /// The texts of the first and the last failure, and how many there were.
    std::string_view first_error() const noexcept { return past() ? std::string_view(past()->first_error) : ""; }
    std::string_view last_error() const noexcept { return past() ? std::string_view(past()->last_error) : ""; }
    std::uint32_t retries() const noexcept { return past() ? past()->retries : 0; }
    std::uint32_t crashes() const noexcept { return past() ? past()->crashes : 0; }
    wall_time first_failed_at() const noexcept { return past() ? past()->first_failed_at : wall_time{}; }
    wall_time last_failed_at() const noexcept { return past() ? past()->last_failed_at : wall_time{}; }
    /// In a dead-letter queue: how it got there.
    std::optional<shove::death> death() const noexcept;

private:
    friend detail::delivery_access;
    const spi::history* past() const noexcept { return state_->item.past.get(); }
    detail::delivery_state* state_;
};

namespace detail {

class delivery_access {
public:
    static delivery_state& state(delivery& info) noexcept { return *info.state_; }
};

}  // namespace detail

/// A dead letter as its handler sees it. The message is absent where the bytes cannot be decoded
/// (they are in `info.payload()`, the reason in `decode_error`).
template <class Message>
struct dead_letter {
    const Message* message = nullptr;
    std::string_view decode_error;
    const delivery& info;
};

}  // namespace shove
