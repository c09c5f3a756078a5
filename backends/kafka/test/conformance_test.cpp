#include "kafka_factory.hpp"

#include <shove/testkit/conformance.hpp>

SHOVE_CONFORMANCE(shove::testkit::kafka_factory("kafka"));
