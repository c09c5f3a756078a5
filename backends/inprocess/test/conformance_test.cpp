#include <shove/testkit/conformance.hpp>

#include "inprocess_factory.hpp"

SHOVE_CONFORMANCE(shove::testkit::inprocess_factory());
