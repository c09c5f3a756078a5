#include <shove/testkit/soak.hpp>

#include <gtest/gtest.h>

#include "inprocess_factory.hpp"

/// For `make test-long`.
TEST(soak_long, counts_are_exact_and_memory_is_flat) {
    using namespace shove;
    using namespace shove::testkit;
    expect_clean_soak(inprocess_factory());
}
