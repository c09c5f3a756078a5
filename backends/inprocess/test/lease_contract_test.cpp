#include <shove/inprocess_leases.hpp>
#include <shove/testkit/lease_contract.hpp>

namespace shove::testkit {
namespace {

class memory_place final : public lease_place {
public:
    result<lease_broker> open(lease_options options) override { return open_inprocess_leases(std::move(options)); }
};

lease_factory memory_factory() {
    return {"memory", [] { return std::make_unique<memory_place>(); }, false};
}

SHOVE_LEASE_CONTRACT(memory_factory());

}  // namespace
}  // namespace shove::testkit
