#include "worker_run.hpp"

#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <system_error>

#include "duration.hpp"
#include "process_environment.hpp"

namespace shove::cli {
namespace {

// As in sysexits.h, and one that is free there.
constexpr int exit_reject = 65;
constexpr int exit_retry = 75;
constexpr int exit_defer = 76;

std::string ended_how(const process_end& end) {
    if (end.how == process_end::kind::exited) return "exited with " + std::to_string(end.code);
    const char* name = sigabbrev_np(end.code);
    return "killed by " + (name ? "SIG" + std::string(name) : "signal " + std::to_string(end.code));
}

std::string with_last_line(std::string text, const process_end& end) {
    return end.last_line.empty() ? text : text + ": " + end.last_line;
}

}  // namespace

outcome outcome_of(const process_end& end, std::optional<milliseconds> timeout) {
    if (end.stopped && !timeout) return defer("stopped by the drain's deadline");
    if (end.stopped) {
        return retry(with_last_line("timed out after " + format_duration(*timeout) + ", " + ended_how(end), end));
    }
    const bool exited = end.how == process_end::kind::exited;
    if (exited && end.code == 0) return ack;
    if (exited && end.code == exit_defer) return defer;
    const auto reason = with_last_line(ended_how(end), end);
    return exited && end.code == exit_reject ? reject(reason) : retry(reason);
}

worker_run::worker_run(session& with, const worker_plan& plan)
    : with_(with),
      plan_(plan),
      programs_(plan.program, plan.grace, [to = &with.console()](std::string_view bytes) { to->raw_error(bytes); }),
      signals_([this](unsigned count) { on_signal(count); }) {
    static_assert(exit_retry == 75);
}

/// The first signal drains, the second tells running programs to end, the third kills them.
void worker_run::on_signal(unsigned count) {
    stop_.request_stop();
    if (count == 1) return;
    if (count > 2) programs_.kill_all();
    std::lock_guard lock(mutex_);
    if (group_) (void)group_->stop(milliseconds(0));
}

exit_code worker_run::execute(const any_broker& broker, const declared_topic& topic) {
    consumer_options options;
    options.prefetch = plan_.concurrency;
    options.concurrent = plan_.concurrency > 1;
    options.handler_timeout = plan_.timeout;
    options.timeout_grace = plan_.grace + milliseconds(5'000);  // the kill comes before
    if (topic.settings.max_retries) options.max_retries = *topic.settings.max_retries;
    auto group = broker.consumer_group();
    group.add(
        topic.topic, [this](std::span<const std::byte>, const delivery& message) { return handle(message); }, options);
    {
        std::lock_guard lock(mutex_);
        group_ = group;
    }
    const auto ended = drain(group);
    {
        std::lock_guard lock(mutex_);
        group_.reset();
    }
    return judge(ended, group.stats(topic.topic.topology->queue));
}

/// Programs that outlast the drain are ended; what they did not finish is settled as deferred.
run_outcome worker_run::drain(group_type& group) {
    auto ended = group.run_until(stop_.get_token(), plan_.drain);
    if (!ended.timed_out) return ended;
    if (!programs_.wait_idle(plan_.grace + milliseconds(1'000))) programs_.kill_all();
    const auto left = ended.left;
    ended = group.stop(milliseconds(5'000));
    ended.timed_out = true;
    ended.left = left;
    return ended;
}

outcome worker_run::handle(const delivery& message) {
    const auto started = std::chrono::steady_clock::now();
    const auto environment = process_environment::of(message);
    const process_input input{message.payload(), environment.variables, environment.side_file};
    const auto end = programs_.run(input, message.stop_token());
    if (end.how == process_end::kind::not_started) return wait_and_defer(end, message.stop_token());
    const auto ran = std::chrono::steady_clock::now() - started;
    // The engine's clock for this call began a little earlier than ours.
    const bool by_timeout =
        plan_.timeout && (!stop_.stop_requested() || ran + std::chrono::milliseconds(50) >= *plan_.timeout);
    auto answer = outcome_of(end, by_timeout ? plan_.timeout : std::nullopt);
    if (!answer.reason().empty()) {
        const auto word = answer.kind() == outcome_kind::reject  ? "reject"
                          : answer.kind() == outcome_kind::retry ? "retry"
                                                                 : "defer";
        with_.console().note(std::string(word) + " " + std::string(message.id()) + " (attempt " +
                             std::to_string(message.attempt()) + "): " + answer.reason());
    }
    return answer;
}

/// Not the message's fault: it costs it nothing, and we do not spin.
outcome worker_run::wait_and_defer(const process_end& end, const std::stop_token& stop) const {
    with_.console().warning("cannot start the program: " + std::generic_category().message(end.code) +
                            "; the message waits and comes again");
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, std::chrono::seconds(1), [] { return false; });
    return defer;
}

exit_code worker_run::judge(const run_outcome& ended, const consumer_stats& counts) const {
    if (with_.json()) {
        std::string line;
        detail::json_writer writer(line);
        const auto put = [&writer](std::string_view name, std::uint64_t value) {
            writer.plain_key(name);
            writer.unsigned_integer(value);
        };
        writer.begin_object();
        put("calls", counts.calls);
        put("acked", counts.acked);
        put("retried", counts.retried);
        put("deferred", counts.deferred);
        put("dead_lettered", counts.dead_lettered);
        put("discarded", counts.discarded);
        put("timeouts", counts.timeouts);
        put("left", ended.left);
        writer.end_object();
        writer.flush();
        with_.out().write(line += '\n');
    } else {
        with_.console().note("ran " + std::to_string(counts.calls) + " programs: " + std::to_string(counts.acked) +
                             " acked, " + std::to_string(counts.retried) + " retried, " +
                             std::to_string(counts.deferred) + " deferred, " + std::to_string(counts.dead_lettered) +
                             " dead");
    }
    for (const auto& each : ended.failures)
        with_.console().error("consumer_failed", each);
    if (!ended.timed_out) return ended.errors + ended.panics > 0 ? exit_code::failure : exit_code::ok;
    with_.console().error("drain_timeout", "programs still ran " + format_duration(plan_.drain) +
                                               " after the signal; " + std::to_string(ended.left) +
                                               " messages come again");
    return exit_code::timeout;
}

}  // namespace shove::cli
