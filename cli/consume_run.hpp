#pragma once

#include <shove/broker.hpp>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "command.hpp"
#include "envelope.hpp"
#include "stop_signals.hpp"
#include "topology_settings.hpp"

namespace shove::cli {

/// What `shove consume` was asked for.
struct consume_plan {
    outcome result = ack;
    std::string reason;
    std::optional<std::uint64_t> count;
    std::optional<milliseconds> timeout;
    bool dead = false;
    std::size_t prefetch = 100;
    milliseconds drain{30'000};
};

/// Prints messages and settles them, each only after its line was written.
class consume_run {
public:
    /// Make it before the broker: it blocks signals in the threads made after it.
    consume_run(session& with, const consume_plan& plan);
    exit_code execute(const any_broker& broker, const declared_topic& topic);

private:
    using group_type = consumer_group<any_backend>;

    outcome handle(const delivery& message);
    void end_now();
    consumer_options options(const topic_settings& settings) const;
    exit_code judge(const run_outcome& ended) const;

    session& with_;
    const consume_plan plan_;
    const outcome answer_;
    std::stop_source stop_;
    stop_signals signals_;
    std::mutex mutex_;
    std::optional<group_type> group_;  ///< While it runs.
    std::mutex handling_;              ///< The shards of a sequenced topic call side by side.
    envelope_writer writer_;
    std::string line_;
    std::atomic<std::uint64_t> handled_{0};
};

}  // namespace shove::cli
