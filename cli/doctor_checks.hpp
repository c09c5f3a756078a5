#pragma once

#include <shove/broker.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "finding.hpp"
#include "topology_work.hpp"

/// What `shove doctor` looks at, one by one. Each gives what it found and throws nothing that the broker does.
namespace shove::cli {

/// `0.213 ms`
std::string milliseconds_text(std::chrono::duration<double, std::milli> took);
/// Why a broker could not be reached, and what to do.
finding connect_failure(const error& why);
/// The shortest of three round trips.
finding check_ping(const any_broker& broker, milliseconds deadline);
/// What the backend tells of its broker, and the version of this program; then how far the broker's clock is from this
/// machine's.
std::vector<finding> check_broker(const any_broker& broker, std::string_view version);
/// A table of what the backend can do; needs no broker that answers.
finding list_capabilities(const spi::capabilities& can);
/// The declared queues: are they there as declared, how old is the oldest message, how many letters are dead?
/// @param max_age  An older message is a warning.
std::vector<finding> check_topics(const any_broker& broker, const std::vector<topic_settings>& asked, bool laid_out,
                                  milliseconds max_age);

}  // namespace shove::cli
