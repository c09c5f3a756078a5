#pragma once

#include <shove/codec.hpp>
#include <shove/delivery.hpp>
#include <shove/detail/asio_forms.hpp>
#include <shove/outcome.hpp>
#include <shove/topic.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace shove::detail {

/// How a call of a handler ended, exceptions aside.
struct call_result {
    shove::outcome outcome = ack;
    bool undecodable = false;
    std::string decode_error{};
};

using call_awaitable = boost::asio::awaitable<call_result, boost::asio::any_io_executor>;

/// How a call of a batch handler ended. If it throws, `all` means nothing.
struct batch_result {
    struct member {
        std::size_t index = 0;
        call_result how{};
    };
    shove::outcome all = ack;      ///< For every member that is not among `others`.
    std::vector<member> others{};  ///< In any order.
};

using batch_awaitable = boost::asio::awaitable<void, boost::asio::any_io_executor>;

/// What a batch handler is called with.
struct batch_call {
    std::span<delivery_state* const> members;
    delivery_state& common;  ///< Stop token, and what the handler keeps from call to call.
    batch_result& ended;
};

/// A handler with its message type erased. Called for several messages at once.
class handler_base {
public:
    virtual ~handler_base() = default;
    virtual bool is_coroutine() const noexcept { return false; }
    /// Decodes and calls a plain handler; on a worker thread. What the handler throws passes through.
    virtual call_result call(delivery& info, decode_scratch& scratch) = 0;
    /// The same for a coroutine; it decodes before it first suspends. `info` outlives it.
    virtual call_awaitable co_call(delivery& info, decode_scratch& scratch);
    /// The same for a batch handler, whose registration has `batch_options`.
    virtual void call_batch(const batch_call& call, decode_scratch& scratch);
    virtual batch_awaitable co_call_batch(batch_call call, decode_scratch& scratch);
};

template <class R>
inline constexpr bool is_outcome_awaitable = false;
template <class Executor>
inline constexpr bool is_outcome_awaitable<boost::asio::awaitable<outcome, Executor>> = true;

/// A plain handler's answers: an outcome. A coroutine's: an awaitable of one.
template <class R>
concept handler_answer = std::same_as<R, outcome> || is_outcome_awaitable<R>;

/// Calls a handler that takes the message alone or message and delivery.
template <class H, class M>
decltype(auto) call_handler(H& handler, M&& argument, const delivery& info) {
    if constexpr (std::is_invocable_v<H&, M&&, const delivery&>) {
        return handler(std::forward<M>(argument), info);
    } else {
        return handler(std::forward<M>(argument));
    }
}

template <class H, class M>
concept callable_with = std::is_invocable_v<H&, M&&, const delivery&> || std::is_invocable_v<H&, M&&>;

template <class H, class M>
using answer_of = decltype(call_handler(std::declval<H&>(), std::declval<M>(), std::declval<const delivery&>()));

/// Handlers of a topic's messages: `outcome(M)`, `outcome(M, const delivery&)` or coroutines of these
/// forms; the message by value, by const reference or by rvalue reference.
template <class H, class T>
concept message_handler =
    callable_with<H, typename T::message_type> && handler_answer<answer_of<H, typename T::message_type>>;

/// Handlers of a topic's dead letters: the same forms over `const dead_letter<M>&`.
template <class H, class T>
concept dead_handler = callable_with<H, const dead_letter<typename T::message_type>&> &&
                       handler_answer<answer_of<H, const dead_letter<typename T::message_type>&>>;

/// What the handler is given, and how it is made from a delivery.
template <class T>
struct message_source {
    using message = typename T::message_type;

    static result<void> decode(const delivery& info, message& into, decode_scratch& scratch) {
        return T::codec_type::decode(info.payload(), into, scratch);
    }
};

/// Whether a handler only looks at its message, so that the object can be used for the next one.
template <class T, class H>
inline constexpr bool keeps_message =
    replaces_whole<typename T::codec_type> && callable_with<H, const typename T::message_type&>;

/// Larger payloads leave no message object behind.
inline constexpr std::size_t max_kept_payload = 64 * 1024;

template <class T, class H>
class typed_handler final : public handler_base {
public:
    explicit typed_handler(H handler) : handler_(std::move(handler)) {}
    call_result call(delivery& info, decode_scratch& scratch) override {
        if constexpr (keeps_message<T, H>) {
            if (info.payload().size() <= max_kept_payload) return call_kept(info, scratch);
        }
        typename T::message_type message{};
        if (auto decoded = message_source<T>::decode(info, message, scratch); !decoded) {
            return {reject, true, decoded.error().message()};
        }
        return {call_handler(handler_, std::move(message), info)};
    }

private:
    call_result call_kept(delivery& info, decode_scratch& scratch) {
        auto& kept = delivery_access::state(info).kept;
        if (!kept) kept = std::make_shared<typename T::message_type>();
        auto& message = *static_cast<typename T::message_type*>(kept.get());
        if (auto decoded = message_source<T>::decode(info, message, scratch); !decoded) {
            return {reject, true, decoded.error().message()};
        }
        return {call_handler(handler_, std::as_const(message), info)};
    }

    H handler_;
};

template <class T, class H>
class typed_dead_handler final : public handler_base {
public:
    explicit typed_dead_handler(H handler) : handler_(std::move(handler)) {}
    call_result call(delivery& info, decode_scratch& scratch) override {
        typename T::message_type message{};
        const auto decoded = message_source<T>::decode(info, message, scratch);
        const std::string text = decoded ? std::string() : decoded.error().message();
        const dead_letter<typename T::message_type> letter{decoded ? &message : nullptr, text, info};
        return {call_handler(handler_, letter, info)};
    }

private:
    H handler_;
};

template <class T, class H>
std::shared_ptr<handler_base> erase_handler(H handler) {
    if constexpr (is_outcome_awaitable<answer_of<H, typename T::message_type>>) {
        return coroutine_needs_include_shove_async_hpp<T, false>(std::move(handler));
    } else {
        return std::make_shared<typed_handler<T, H>>(std::move(handler));
    }
}

template <class T, class H>
std::shared_ptr<handler_base> erase_dead_handler(H handler) {
    if constexpr (is_outcome_awaitable<answer_of<H, const dead_letter<typename T::message_type>&>>) {
        return coroutine_needs_include_shove_async_hpp<T, true>(std::move(handler));
    } else {
        return std::make_shared<typed_dead_handler<T, H>>(std::move(handler));
    }
}

/// Handler of a run-time topic: gets bytes.
using raw_function = std::function<outcome(std::span<const std::byte>, const delivery&)>;
std::shared_ptr<handler_base> erase_raw_handler(const runtime_topic& topic, raw_function handler, bool dead);

}  // namespace shove::detail
