#pragma once

#include <shove/spi/driver.hpp>

#include <functional>
#include <string>
#include <vector>

namespace shove::detail {

/// Asks for the depth of several queues and adds them up; the oldest age is the highest, the first error counts for
/// all. `done` is called once, from any thread.
void add_up_depths(spi::driver& driver, const std::vector<std::string>& queues,
                   std::function<void(result<spi::queue_depth>)> done);

}  // namespace shove::detail
