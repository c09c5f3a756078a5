#include "consume_run.hpp"

#include <condition_variable>
#include <thread>

#include "failure.hpp"
#include "meter.hpp"

namespace shove::cli {
namespace {

/// Requests a stop after some time, unless it ends before.
class stop_timer {
public:
    stop_timer(std::stop_source& stop, std::optional<milliseconds> after) {
        if (!after) return;
        thread_ = std::jthread([&stop, wait = *after](const std::stop_token& done) {
            std::mutex mutex;
            std::condition_variable_any never;
            std::unique_lock lock(mutex);
            never.wait_for(lock, done, wait, [] { return false; });
            if (!done.stop_requested()) stop.request_stop();
        });
    }

private:
    std::jthread thread_;
};

}  // namespace

consume_run::consume_run(session& with, const consume_plan& plan)
    : with_(with),
      plan_(plan),
      answer_(plan.reason.empty() ? plan.result : plan.result(plan.reason)),
      signals_([this](unsigned count) {
          stop_.request_stop();
          if (count > 1) end_now();
      }) {}

exit_code consume_run::execute(const any_broker& broker, const declared_topic& topic) {
    auto group = broker.consumer_group();
    const auto handler = [this](std::span<const std::byte>, const delivery& message) { return handle(message); };
    if (plan_.dead) {
        group.add_dead(topic.topic, handler, options(topic.settings));
    } else {
        group.add(topic.topic, handler, options(topic.settings));
    }
    {
        std::lock_guard lock(mutex_);
        group_ = group;
    }
    run_outcome ended;
    {
        const stop_timer timer(stop_, plan_.timeout);
        ended = group.run_until(stop_.get_token(), plan_.drain);
    }
    {
        std::lock_guard lock(mutex_);
        group_.reset();
    }
    with_.out().check();
    return judge(ended);
}

/// One message at a time: the next one is looked at after this one's end.
outcome consume_run::handle(const delivery& message) {
    const std::lock_guard one_at_a_time(handling_);
    // Nobody reads any more, or another shard's message was the last: this one comes again, at no cost.
    if (with_.out().closed() || (plan_.count && handled_ == *plan_.count)) return defer;
    line_.clear();
    writer_.append(view_of(message), line_);
    if (!with_.out().write(line_)) {
        end_now();
        return defer;
    }
    if (++handled_ == plan_.count.value_or(0)) end_now();
    return answer_;
}

/// Begins the drain before it returns, so that no further call begins after the one that asked for it.
void consume_run::end_now() {
    {
        std::lock_guard lock(mutex_);
        if (group_) (void)group_->stop(milliseconds(0));
    }
    stop_.request_stop();
}

consumer_options consume_run::options(const topic_settings& settings) const {
    consumer_options made;
    made.concurrent = false;
    made.prefetch = plan_.prefetch;
    if (plan_.count && *plan_.count < made.prefetch) made.prefetch = static_cast<std::size_t>(*plan_.count);
    made.handler_timeout = std::nullopt;  // a pager may keep the output waiting
    if (settings.max_retries) made.max_retries = *settings.max_retries;
    made.max_message_bytes = SIZE_MAX;
    return made;
}

exit_code consume_run::judge(const run_outcome& ended) const {
    for (const auto& each : ended.failures)
        with_.console().error("consumer_failed", each);
    if (ended.timed_out) {
        with_.console().error("drain_timeout", std::to_string(ended.left) + " messages were not settled within " +
                                                   std::to_string(plan_.drain.count()) + " ms; they come again");
        return exit_code::timeout;
    }
    if (ended.errors + ended.panics > 0) return exit_code::failure;
    if (with_.out().closed() || !plan_.count || handled_ == *plan_.count) return exit_code::ok;
    with_.console().error("too_few",
                          grouped(handled_) + " of " + grouped(*plan_.count) + " messages came before the end");
    return exit_code::timeout;
}

}  // namespace shove::cli
