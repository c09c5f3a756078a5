#pragma once

#include <shove/clock.hpp>
#include <shove/kafka.hpp>

#include <memory>

#include "loop.hpp"

namespace shove::kafka_backend {

class control;

/// What the parts of one driver share.
struct shared_parts {
    std::shared_ptr<const kafka::config> settings;
    std::shared_ptr<shove::clock> clock;
    std::shared_ptr<loop> on;         ///< Serves the queues of all clients.
    std::shared_ptr<control> asking;  ///< Questions and declarations.
};

/// What a closed driver answers.
inline error closed_error() {
    return {errc::closed, "the broker was closed"};
}

}  // namespace shove::kafka_backend
