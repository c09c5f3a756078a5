#pragma once

#include <shove/event.hpp>

#include <functional>
#include <memory>
#include <string>

namespace spdlog {
class logger;
}

namespace shove {

enum class log_format : std::uint8_t {
    text,  ///< `the shard 'orders-seq-3' was lost … event=shard_lost queue=orders`
    json,  ///< One object a line: `{"time":…,"level":"warning","event":"shard_lost","text":…,"queue":"orders"}`
};

/// Sends events to a logger of spdlog: give it to `broker_options::on_event`. Level and sinks are the logger's matter.
/// For JSON the logger's pattern must be `%v`, which this sets.
/// @par Thread safety  That of the logger's sinks.
std::function<void(const event&)> spdlog_events(std::shared_ptr<::spdlog::logger> logger,
                                                log_format format = log_format::text);

/// An event as one line of JSON, without a line end.
/// @param time  RFC 3339; empty: left out.
std::string to_json(const event& what, const std::string& time = {});

}  // namespace shove
