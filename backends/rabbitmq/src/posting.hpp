#pragma once

#include <memory>
#include <vector>

#include "outlet.hpp"

namespace shove::rabbitmq_backend {

/// Publishes these, and again as often as a connection takes them along without an answer. So each may be stored more
/// than once.
/// @param what   What they point to must live until `done`.
/// @param until  No further attempt is begun then.
void post_until_known(std::shared_ptr<outlet> by, std::vector<parcel> what, steady_time until,
                      spi::callback<void(error)> done);

}  // namespace shove::rabbitmq_backend
