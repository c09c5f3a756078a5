#pragma once

#include <shove/message.hpp>

#include <optional>
#include <string>
#include <vector>

namespace shove::spi {

/// Something to know about a broker: `{"SQLite library", "3.40.1"}`.
struct fact {
    std::string name;
    std::string value;
};

/// What a driver can tell of its broker, for people.
struct description {
    std::vector<fact> facts;         ///< Versions, where it is, how it is set. Never a secret.
    std::optional<wall_time> clock;  ///< The broker's own time; nothing: it has no clock but this machine's.
};

}  // namespace shove::spi
