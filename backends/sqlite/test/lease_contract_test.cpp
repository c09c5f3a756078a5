#include "lease_place.hpp"

namespace shove::testkit {
namespace {

lease_factory file_factory() {
    return {"sqlite", [] { return std::make_unique<file_place>(); }, true};
}

SHOVE_LEASE_CONTRACT(file_factory());

}  // namespace
}  // namespace shove::testkit
