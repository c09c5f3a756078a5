#pragma once

#include <shove/delivery.hpp>
#include <shove/outcome.hpp>

#include <cstddef>
#include <span>
#include <stop_token>
#include <vector>

namespace shove {

/// When the messages of a batch consumer are handed over: as soon as one of the limits is reached.
struct batch_options {
    /// So many messages, at most; 1 to 100,000.
    std::size_t max_messages = 500;
    /// So long after the first of them has arrived. Later arrivals do not push it back.
    milliseconds max_age{250};
    /// So many bytes of payload, at most; a larger message makes a batch of its own.
    std::size_t max_bytes = 16U * 1024 * 1024;
};

/// An outcome for each message of a batch, in their order.
using outcomes = std::vector<outcome>;

/// What a batch handler is given: one message or more, in the order of arrival. It and its views live as long as the
/// handler's call.
/// @par Thread safety  The call's own thread or coroutine; `stop_token()` may be passed on.
template <class Message>
class batch {
public:
    batch(std::span<Message> messages, std::span<detail::delivery_state* const> members,
          const detail::delivery_state& call) noexcept
        : messages_(messages), members_(members), call_(&call) {}

    std::size_t size() const noexcept { return messages_.size(); }
    /// The messages; they may be changed and moved from.
    std::span<Message> messages() const noexcept { return messages_; }
    Message& operator[](std::size_t i) const noexcept { return messages_[i]; }
    auto begin() const noexcept { return messages_.begin(); }
    auto end() const noexcept { return messages_.end(); }
    /// The metadata of message `i`.
    delivery info(std::size_t i) const noexcept { return delivery(*members_[i]); }
    /// Stop is requested when the handler's timeout passes or a drain's deadline comes.
    std::stop_token stop_token() const noexcept { return call_->stop.get_token(); }

private:
    std::span<Message> messages_;
    std::span<detail::delivery_state* const> members_;
    const detail::delivery_state* call_;
};

}  // namespace shove
