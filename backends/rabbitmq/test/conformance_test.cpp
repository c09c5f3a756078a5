#include "rabbitmq_factory.hpp"

#include <shove/testkit/conformance.hpp>

SHOVE_CONFORMANCE(shove::testkit::rabbitmq_factory("rabbitmq", "quorum"));
