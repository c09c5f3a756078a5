#include "sqlite_factory.hpp"

#include <shove/testkit/conformance.hpp>

// Without waiting for the disk: the cases are about behaviour, and take a third of the time. What `full` adds is
// tested beside the driver.
SHOVE_CONFORMANCE(shove::testkit::sqlite_factory(shove::sqlite::durability::normal));
