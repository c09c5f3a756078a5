#include "rabbitmq_factory.hpp"

#include <shove/testkit/conformance.hpp>

// Settling in the broker's transactions.
SHOVE_CONFORMANCE(shove::testkit::rabbitmq_factory("rabbitmq_transactional", "classic&transactional=true"));
