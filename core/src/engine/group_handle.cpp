#include <shove/consumer_group.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "broker_core.hpp"
#include "completion.hpp"
#include "group_core.hpp"

namespace shove {
namespace {

/// Signals within this time are one request: supervisors such as timeout(1) signal a process and then its group.
constexpr auto one_signal = milliseconds(200);

}  // namespace

void run_outcome::exit() const {
    std::fflush(nullptr);
    std::_Exit(exit_code());
}

namespace detail {

call_awaitable handler_base::co_call(delivery&, decode_scratch&) {
    call_result never;
    never.outcome = reject;
    co_return never;
}

void handler_base::call_batch(const batch_call& call, decode_scratch&) {
    call.ended.all = reject;  // never called
}

batch_awaitable handler_base::co_call_batch(batch_call call, decode_scratch&) {
    call.ended.all = reject;  // never called
    co_return;
}

void check_outcomes(std::size_t answered, std::size_t messages) {
    if (answered == messages) return;
    throw std::logic_error("the batch handler answered " + std::to_string(answered) + " outcomes for " +
                           std::to_string(messages) + " messages; answer one for each, or one for all");
}

group_handle::group_handle(std::shared_ptr<broker_core> broker, consumer_options defaults)
    : core_(std::make_shared<group_core>(std::move(broker), std::move(defaults))) {}

void group_handle::add(registration what, std::shared_ptr<handler_base> handler) {
    core_->add(std::move(what), [handler = std::move(handler)] { return handler; });
}

void group_handle::add_each(registration what, handler_factory factory) {
    core_->add(std::move(what), std::move(factory));
}

void group_handle::enable_autoscaling(autoscaler_options options) {
    core_->enable_autoscaling(std::move(options));
}

void group_handle::start() {
    core_->start();
}

run_outcome group_handle::stop(milliseconds drain) {
    return core_->stop(drain);
}

run_outcome group_handle::run_until(std::stop_token stop, milliseconds drain) {
    if (!core_->started()) core_->start();
    core_->wait(stop);
    return core_->stop(drain);
}

run_outcome group_handle::run_until_timeout(milliseconds duration, milliseconds drain) {
    if (!core_->started()) core_->start();
    std::stop_source over;
    auto& clock = core_->broker().clock();
    const auto timer = clock.call_at(clock.now() + duration, [over]() mutable { over.request_stop(); });
    core_->wait(over.get_token());
    clock.cancel(timer);
    return core_->stop(drain);
}

run_outcome group_handle::run_until_signal(milliseconds drain) {
    boost::asio::io_context context;
    boost::asio::signal_set signals(context, SIGINT, SIGTERM);
    std::stop_source stop;
    auto& core = *core_;
    std::chrono::steady_clock::time_point first{};
    std::function<void(error_code)> arrived = [&](error_code failed) {
        if (failed) return;
        const auto now = std::chrono::steady_clock::now();
        if (stop.request_stop()) {
            first = now;
        } else if (now - first >= one_signal) {
            core.cut_drain();
        }
        signals.async_wait([&](error_code code, int) { arrived(code); });
    };
    signals.async_wait([&](error_code code, int) { arrived(code); });
    std::jthread listener([&] { context.run(); });
    struct guard {
        boost::asio::io_context& context;
        ~guard() { context.stop(); }
    } ends_listener{context};
    return run_until(stop.get_token(), drain);
}

void group_handle::async_run(std::stop_token stop, milliseconds drain,
                             boost::asio::any_completion_handler<void(error_code, run_outcome)> done) const {
    // Waiting for a drain blocks a thread; this one ends with the run and is joined by its completion's owner.
    auto finish = completion_on(core_->broker().executor(), std::move(done));
    core_->broker().spawn_waiter([handle = *this, stop = std::move(stop), drain, finish = std::move(finish)]() mutable {
        error_code code;
        run_outcome outcome;
        try {
            outcome = handle.run_until(std::move(stop), drain);
        } catch (const exception& e) {
            code = e.cause().code;
        } catch (const std::exception& e) {  // of a factory of handlers: there is no one here to throw it at
            handle.core_->broker().tell(happening::group_start_failed,
                                        std::string("the start of a group failed: ") + e.what(), {{"error", e.what()}});
            code = make_error_code(errc::cancelled);
        }
        finish(code, std::move(outcome));
    });
}

consumer_stats group_handle::stats(std::string_view queue) const {
    return core_->stats(queue);
}

}  // namespace detail
}  // namespace shove
