#pragma once

#include <shove/consumer_group.hpp>
#include <shove/error.hpp>
#include <shove/spi/capabilities.hpp>
#include <shove/topology.hpp>

namespace shove::detail {

/// What a topology needs and the backend lacks: `errc::unsupported`, or no error. The compile-time checks of
/// `broker<B>` say the same; this is for topics and backends known only at run time.
error check_supported(const queue_topology& topology, const spi::capabilities& caps);

/// What is wrong with how a broadcast, or no broadcast, is registered: `errc::invalid_argument`; or where a
/// subscription begins: `errc::unsupported`.
error check_broadcast(const registration& what, const spi::capabilities& caps);

}  // namespace shove::detail
