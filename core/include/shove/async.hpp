#pragma once

// The `async_` forms and coroutine handlers: include this where you use them. The rest of the library does
// without Asio's headers.

#include <shove/broker.hpp>
#include <shove/detail/asio_forms.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>
#include <utility>

namespace shove::detail {

template <class Signature, class Token, class Operation, class... Args>
auto please_include_shove_async_hpp(Operation operation, std::type_identity_t<Token>& token, Args... args) {
    return boost::asio::async_initiate<Token, Signature>(std::move(operation), token, std::move(args)...);
}

template <class T, class H>
class coroutine_handler final : public handler_base {
public:
    explicit coroutine_handler(H handler) : handler_(std::move(handler)) {}
    bool is_coroutine() const noexcept override { return true; }
    call_result call(delivery&, decode_scratch&) override { return {reject}; }  // never called: see co_call
    call_awaitable co_call(delivery& info, decode_scratch& scratch) override {
        typename T::message_type message{};
        call_result ended;
        if (auto decoded = message_source<T>::decode(info, message, scratch); !decoded) {
            ended.outcome = reject;
            ended.undecodable = true;
            ended.decode_error = decoded.error().message();
            co_return ended;
        }
        auto answer = call_handler(handler_, std::move(message), info);
        ended.outcome = co_await std::move(answer);
        co_return ended;
    }

private:
    H handler_;
};

template <class T, class H>
class coroutine_dead_handler final : public handler_base {
public:
    explicit coroutine_dead_handler(H handler) : handler_(std::move(handler)) {}
    bool is_coroutine() const noexcept override { return true; }
    call_result call(delivery&, decode_scratch&) override { return {reject}; }  // never called: see co_call
    call_awaitable co_call(delivery& info, decode_scratch& scratch) override {
        typename T::message_type message{};
        const auto decoded = message_source<T>::decode(info, message, scratch);
        const std::string text = decoded ? std::string() : decoded.error().message();
        const dead_letter<typename T::message_type> letter{decoded ? &message : nullptr, text, info};
        auto answer = call_handler(handler_, letter, info);
        call_result ended;
        ended.outcome = co_await std::move(answer);
        co_return ended;
    }

private:
    H handler_;
};

template <class T, class H>
class coroutine_batch_handler final : public handler_base {
public:
    explicit coroutine_batch_handler(H handler) : handler_(std::move(handler)) {}
    bool is_coroutine() const noexcept override { return true; }
    call_result call(delivery&, decode_scratch&) override { return {reject}; }  // never called: see co_call_batch
    batch_awaitable co_call_batch(batch_call call, decode_scratch& scratch) override {
        const auto room = batch_room<typename T::message_type>::of(call);
        auto all = room->decode(call, decode_member<T>(scratch));
        if (all.size() == 0) co_return;
        auto answer = call_batch_handler(handler_, all);
        auto answered = co_await std::move(answer);
        room->answer(std::move(answered), call.ended);
    }

private:
    H handler_;
};

template <class T, bool Dead, class H>
auto coroutine_needs_include_shove_async_hpp(H handler) {
    using made = std::conditional_t<Dead, coroutine_dead_handler<T, H>, coroutine_handler<T, H>>;
    return std::shared_ptr<handler_base>(std::make_shared<made>(std::move(handler)));
}

template <class T, class H>
auto batch_coroutine_needs_include_shove_async_hpp(H handler) {
    return std::shared_ptr<handler_base>(std::make_shared<coroutine_batch_handler<T, H>>(std::move(handler)));
}

}  // namespace shove::detail
