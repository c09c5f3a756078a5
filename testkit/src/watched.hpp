#pragma once

#include <shove/testkit/backend_factory.hpp>
#include <shove/testkit/leak_watch.hpp>

#include <memory>

/// Puts a watch around a backend: it hears all that brokers tell, beside whoever a case has hear it. Private to the
/// suite.
namespace shove::testkit {

/// The factory, whose brokers are all watched.
backend_factory watched(const backend_factory& factory, const std::shared_ptr<leak_watch>& watch);

/// The options of a broker whose log, events, spans and labels of metrics are watched. Changes nothing else that a case
/// could see: without a tracer of the case no context is added to a message, and without its metrics no depth is asked
/// for.
broker_options watched(broker_options options, const std::shared_ptr<leak_watch>& watch);

/// The driver, of which the watch learns what it is given to publish, and hears what it answers: errors, and the facts
/// of `describe`. (Errors of a subscription are told as events.)
std::shared_ptr<spi::driver> watched(std::shared_ptr<spi::driver> driver, const std::shared_ptr<leak_watch>& watch);

}  // namespace shove::testkit
