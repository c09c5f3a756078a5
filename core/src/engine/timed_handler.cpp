#include "timed_handler.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <utility>

namespace shove::detail {
namespace {

/// Notes the time of its life, as that of so many messages.
class stopwatch {
public:
    stopwatch(service_meter& meter, const shove::clock& clock, std::size_t messages = 1) noexcept
        : meter_(meter), clock_(clock), began_(clock.recent()), messages_(static_cast<std::int64_t>(messages)) {}
    stopwatch(const stopwatch&) = delete;
    stopwatch& operator=(const stopwatch&) = delete;
    ~stopwatch() { meter_.note((clock_.recent() - began_) / messages_); }

private:
    service_meter& meter_;
    const shove::clock& clock_;
    steady_time began_;
    std::int64_t messages_;
};

class timed_handler final : public handler_base {
public:
    timed_handler(std::shared_ptr<handler_base> handler, std::shared_ptr<service_meter> meter,
                  const shove::clock& clock) noexcept
        : handler_(std::move(handler)), meter_(std::move(meter)), clock_(clock) {}

    bool is_coroutine() const noexcept override { return handler_->is_coroutine(); }
    call_result call(delivery& info, decode_scratch& scratch) override {
        const stopwatch watch(*meter_, clock_);
        return handler_->call(info, scratch);
    }
    call_awaitable co_call(delivery& info, decode_scratch& scratch) override {
        const stopwatch watch(*meter_, clock_);
        auto answer = handler_->co_call(info, scratch);
        co_return co_await std::move(answer);
    }
    void call_batch(const batch_call& call, decode_scratch& scratch) override {
        const stopwatch watch(*meter_, clock_, call.members.size());
        handler_->call_batch(call, scratch);
    }
    batch_awaitable co_call_batch(batch_call call, decode_scratch& scratch) override {
        const stopwatch watch(*meter_, clock_, call.members.size());
        auto answer = handler_->co_call_batch(call, scratch);
        co_await std::move(answer);
    }

private:
    const std::shared_ptr<handler_base> handler_;
    const std::shared_ptr<service_meter> meter_;
    const shove::clock& clock_;
};

}  // namespace

std::optional<std::chrono::nanoseconds> service_meter::mean() {
    const auto calls = calls_.load(std::memory_order_relaxed);
    const auto total = total_.load(std::memory_order_relaxed);
    if (calls > seen_calls_) {
        const std::chrono::nanoseconds fresh((total - seen_total_) / (calls - seen_calls_));
        mean_ = mean_ ? (*mean_ + fresh) / 2 : fresh;
    }
    seen_calls_ = calls;
    seen_total_ = total;
    return mean_;
}

std::shared_ptr<handler_base> measured(std::shared_ptr<handler_base> handler, std::shared_ptr<service_meter> meter,
                                       const shove::clock& clock) {
    return std::make_shared<timed_handler>(std::move(handler), std::move(meter), clock);
}

}  // namespace shove::detail
