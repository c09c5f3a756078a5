#pragma once

#include <shove/testkit/backend_factory.hpp>

#include <cstdint>

namespace shove::testkit {

/// How the messages of a soak are handled.
enum class soak_kind : std::uint8_t { single, batches, sequenced };

/// Publishes and handles without a pause for `SHOVE_SOAK_S` seconds (100), with retries, exceptions, rejects and dead
/// letters, and a backlog that is bounded; then waits until everything is done. Fails the running test if a message was
/// lost, doubled or out of the order of its key, or if the process's memory grew by 16 MiB after the first fifth of the
/// time. Blocks.
void expect_clean_soak(const backend_factory& factory, soak_kind kind);

}  // namespace shove::testkit
