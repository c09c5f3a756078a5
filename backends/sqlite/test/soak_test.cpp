#include <shove/testkit/soak.hpp>

#include <gtest/gtest.h>

#include "sqlite_factory.hpp"

/// For `make soak` and `make test-long`: counts are exact, memory is flat.
namespace {

void soak(shove::testkit::soak_kind kind) {
    using namespace shove;
    using namespace shove::testkit;
    expect_clean_soak(sqlite_factory(sqlite::durability::normal), kind);
}

}  // namespace

TEST(soak_long, single) {
    soak(shove::testkit::soak_kind::single);
}
TEST(soak_long, batches) {
    soak(shove::testkit::soak_kind::batches);
}
TEST(soak_long, sequenced) {
    soak(shove::testkit::soak_kind::sequenced);
}
