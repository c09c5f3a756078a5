#include "rabbitmq_factory.hpp"

#include <shove/testkit/conformance.hpp>

// On classic queues, which the Rust library declares.
SHOVE_CONFORMANCE(shove::testkit::rabbitmq_factory("rabbitmq_classic", "classic"));
