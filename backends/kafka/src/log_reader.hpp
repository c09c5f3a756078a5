#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cluster.hpp"

namespace shove::kafka_backend {

/// Reads records of a topic where they lie, without a group. Blocks.
/// @par Thread safety  None.
class log_reader {
public:
    log_reader(std::shared_ptr<const kafka::config> settings, std::shared_ptr<loop> on)
        : settings_(std::move(settings)), on_(std::move(on)) {}

    /// Shows the records of a partition from one offset up to another, as long as `show` says true.
    /// @par Errors  `errc::timed_out` where nothing came for `config::connect_timeout`.
    error read(const std::string& topic, partition which, std::int64_t from, std::int64_t until,
               const std::function<bool(const rd_kafka_message_t&)>& show);
    /// Ends the client.
    void finish() { client_.reset(); }

private:
    std::shared_ptr<const kafka::config> settings_;
    std::shared_ptr<loop> on_;
    std::shared_ptr<handle> client_;
};

}  // namespace shove::kafka_backend
