#include "sqlite_factory.hpp"

#include <shove/testkit/conformance.hpp>

SHOVE_CONFORMANCE(shove::testkit::sqlite_factory());
