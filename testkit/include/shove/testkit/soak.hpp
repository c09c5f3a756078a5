#pragma once

#include <shove/testkit/backend_factory.hpp>

namespace shove::testkit {

/// Publishes and handles without a pause for `SHOVE_SOAK_S` seconds (300), with retries, exceptions, rejects and dead
/// letters, and a backlog that is bounded; then waits until everything is done. Fails the running test if a message was
/// lost or doubled, or if the process's memory grew by 16 MiB after the first fifth of the time. Blocks.
void expect_clean_soak(const backend_factory& factory);

}  // namespace shove::testkit
