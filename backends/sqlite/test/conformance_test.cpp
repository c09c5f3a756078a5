#include "sqlite_factory.hpp"

#include <shove/testkit/conformance.hpp>

// Without waiting for the disk, which takes a third off the time: the cases are about behaviour. What `full` adds is
// tested beside the driver.
SHOVE_CONFORMANCE(shove::testkit::sqlite_factory(shove::sqlite::durability::normal));
