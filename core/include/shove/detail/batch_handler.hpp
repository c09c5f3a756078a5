#pragma once

#include <shove/batch.hpp>
#include <shove/detail/handler.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace shove::detail {

template <class R>
inline constexpr bool is_batch_awaitable = false;
template <class Answer, class Executor>
inline constexpr bool is_batch_awaitable<boost::asio::awaitable<Answer, Executor>> =
    std::same_as<Answer, outcome> || std::same_as<Answer, outcomes>;

/// A batch handler's answers: one outcome for all or one per message, plain or awaited.
template <class R>
concept batch_answer = std::same_as<R, outcome> || std::same_as<R, outcomes> || is_batch_awaitable<R>;

template <class H, class M>
concept batch_callable = std::is_invocable_v<H&, batch<M>&> || std::is_invocable_v<H&, std::span<M>>;

/// Calls a handler that takes the batch, or its messages alone.
template <class H, class M>
decltype(auto) call_batch_handler(H& handler, batch<M>& all) {
    if constexpr (std::is_invocable_v<H&, batch<M>&>) {
        return handler(all);
    } else {
        return handler(all.messages());
    }
}

template <class H, class M>
using batch_answer_of = decltype(call_batch_handler(std::declval<H&>(), std::declval<batch<M>&>()));

template <class H, class T>
concept batch_handler =
    batch_callable<H, typename T::message_type> && batch_answer<batch_answer_of<H, typename T::message_type>>;

/// Throws unless there is an outcome for each message.
void check_outcomes(std::size_t answered, std::size_t messages);

/// The decoded messages of one call; used again for its next one.
template <class Message>
class batch_room {
public:
    /// The room kept with a call.
    static std::shared_ptr<batch_room> of(const batch_call& call) {
        auto& kept = call.common.kept;
        if (!kept) kept = std::make_shared<batch_room>();
        return std::static_pointer_cast<batch_room>(kept);
    }

    /// Decodes the members by `result<void> one(const delivery&, Message&)`; what it refuses is noted.
    template <class F>
    batch<Message> decode(const batch_call& call, F one) {
        members_.clear();
        indexes_.clear();
        large_ = false;
        if (messages_.size() < call.members.size()) messages_.resize(call.members.size());
        for (std::size_t i = 0; i < call.members.size(); ++i) {
            const delivery info(*call.members[i]);
            large_ = large_ || info.payload().size() > max_kept_payload;
            auto& into = messages_[members_.size()];
            if (auto decoded = one(info, into); !decoded) {
                call.ended.others.push_back({i, {reject, true, decoded.error().message()}});
                continue;
            }
            members_.push_back(call.members[i]);
            indexes_.push_back(i);
        }
        return {std::span(messages_).first(members_.size()), members_, call.common};
    }

    void answer(outcome all, batch_result& ended) {
        ended.all = std::move(all);
        tidy();
    }
    void answer(outcomes each, batch_result& ended) {
        check_outcomes(each.size(), members_.size());
        for (std::size_t i = 0; i < each.size(); ++i) {
            if (each[i].kind() != outcome_kind::ack) ended.others.push_back({indexes_[i], {std::move(each[i])}});
        }
        tidy();
    }

private:
    void tidy() {
        if (large_) messages_ = {};
    }

    std::vector<Message> messages_;
    std::vector<delivery_state*> members_;
    std::vector<std::size_t> indexes_;  ///< Of `members_`, in the call's members.
    bool large_ = false;
};

/// Decodes one member of a batch of topic `T`.
template <class T>
auto decode_member(decode_scratch& scratch) {
    return [&scratch](const delivery& info, typename T::message_type& into) {
        if constexpr (!replaces_whole<typename T::codec_type>) into = typename T::message_type{};
        return message_source<T>::decode(info, into, scratch);
    };
}

template <class T, class H>
class typed_batch_handler final : public handler_base {
public:
    explicit typed_batch_handler(H handler) : handler_(std::move(handler)) {}
    call_result call(delivery&, decode_scratch&) override { return {reject}; }  // never called: see call_batch
    void call_batch(const batch_call& call, decode_scratch& scratch) override {
        const auto room = batch_room<typename T::message_type>::of(call);
        auto all = room->decode(call, decode_member<T>(scratch));
        if (all.size() > 0) room->answer(call_batch_handler(handler_, all), call.ended);
    }

private:
    H handler_;
};

template <class T, class H>
std::shared_ptr<handler_base> erase_batch_handler(H handler) {
    if constexpr (is_batch_awaitable<batch_answer_of<H, typename T::message_type>>) {
        return batch_coroutine_needs_include_shove_async_hpp<T>(std::move(handler));
    } else {
        return std::make_shared<typed_batch_handler<T, H>>(std::move(handler));
    }
}

/// Batch handler of a run-time topic: gets bytes.
using raw_batch_function = std::function<outcomes(batch<std::span<const std::byte>>&)>;
std::shared_ptr<handler_base> erase_raw_batch_handler(const runtime_topic& topic, raw_batch_function handler);

}  // namespace shove::detail
