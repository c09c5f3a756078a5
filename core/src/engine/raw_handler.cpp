#include <shove/detail/batch_handler.hpp>

namespace shove::detail {
namespace {

/// Hands bytes over; the topic's check stands for a codec.
class raw_handler final : public handler_base {
public:
    raw_handler(runtime_topic topic, raw_function handler, bool dead)
        : topic_(std::move(topic)), handler_(std::move(handler)), dead_(dead) {}

    call_result call(delivery& info, decode_scratch&) override {
        if (topic_.check && !dead_) {
            if (auto checked = topic_.check(info.payload()); !checked) return {reject, true, checked.error().message()};
        }
        return {handler_(info.payload(), info)};
    }

private:
    runtime_topic topic_;
    raw_function handler_;
    bool dead_;
};

class raw_batch_handler final : public handler_base {
public:
    raw_batch_handler(runtime_topic topic, raw_batch_function handler)
        : topic_(std::move(topic)), handler_(std::move(handler)) {}

    call_result call(delivery&, decode_scratch&) override { return {reject}; }  // never called: see call_batch
    void call_batch(const batch_call& call, decode_scratch&) override {
        const auto room = batch_room<std::span<const std::byte>>::of(call);
        auto all = room->decode(call, [&](const delivery& info, std::span<const std::byte>& into) {
            into = info.payload();
            return topic_.check ? topic_.check(into) : result<void>();
        });
        if (all.size() > 0) room->answer(handler_(all), call.ended);
    }

private:
    runtime_topic topic_;
    raw_batch_function handler_;
};

}  // namespace

std::shared_ptr<handler_base> erase_raw_handler(const runtime_topic& topic, raw_function handler, bool dead) {
    return std::make_shared<raw_handler>(topic, std::move(handler), dead);
}

std::shared_ptr<handler_base> erase_raw_batch_handler(const runtime_topic& topic, raw_batch_function handler) {
    return std::make_shared<raw_batch_handler>(topic, std::move(handler));
}

}  // namespace shove::detail
