#pragma once

#include <shove/broker.hpp>

#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "command.hpp"
#include "process.hpp"
#include "stop_signals.hpp"
#include "topology_settings.hpp"

namespace shove::cli {

/// What `shove worker` was asked for.
struct worker_plan {
    std::string program;
    unsigned concurrency = 10;
    std::optional<milliseconds> timeout = milliseconds(30'000);
    milliseconds grace{5'000};
    milliseconds drain{30'000};
};

/// What a program's end means for its message.
/// @param timeout  The time it had, if it was that which stopped it; else a drain did.
outcome outcome_of(const process_end& end, std::optional<milliseconds> timeout);

/// Runs a program for each message of a queue until a signal comes.
class worker_run {
public:
    /// Make it before the broker: it blocks signals in the threads made after it.
    worker_run(session& with, const worker_plan& plan);
    exit_code execute(const any_broker& broker, const declared_topic& topic);

private:
    using group_type = consumer_group<any_backend>;

    outcome handle(const delivery& message);
    outcome wait_and_defer(const process_end& end, const std::stop_token& stop) const;
    void on_signal(unsigned count);
    run_outcome drain(group_type& group);
    exit_code judge(const run_outcome& ended, const consumer_stats& counts) const;

    session& with_;
    const worker_plan plan_;
    process_runner programs_;
    std::stop_source stop_;
    std::mutex mutex_;
    std::optional<group_type> group_;  ///< While it runs.
    stop_signals signals_;
};

}  // namespace shove::cli
