#include <shove/detail/handler.hpp>

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

}  // namespace

std::shared_ptr<handler_base> erase_raw_handler(const runtime_topic& topic, raw_function handler, bool dead) {
    return std::make_shared<raw_handler>(topic, std::move(handler), dead);
}

}  // namespace shove::detail
