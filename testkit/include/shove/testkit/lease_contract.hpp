#pragma once

#include <shove/lease.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// The lease contract as tests: what every store of leases must do, written once over `lease_broker`.
namespace shove::testkit {

/// One place where leases are kept: a file, or nothing. Its destructor clears it away.
class lease_place {
public:
    virtual ~lease_place() = default;
    /// Opens a broker on it; a durable one sees what earlier ones have left.
    virtual result<lease_broker> open(lease_options options) = 0;
};

/// All that the suite needs to know of a store.
struct lease_factory {
    /// The first part of each test's name; a C identifier.
    std::string name;
    std::function<std::unique_ptr<lease_place>()> make_place;
    /// Another broker on the same place sees the same leases, at once and later.
    bool durable = false;
};

class lease_stage;

/// One case. It throws, or fails GoogleTest assertions, where the store does not conform.
struct lease_case {
    std::string_view group;
    std::string_view name;
    void (*run)(lease_stage& on);
    bool durable = false;  ///< Only for durable stores.
};

const std::vector<lease_case>& lease_cases();

/// Registers every case with GoogleTest, named after factory, group and case.
/// @return  Anything: so that it can initialise a variable of a namespace.
bool register_lease_contract(const lease_factory& factory);

}  // namespace shove::testkit

/// Instantiates the contract for a store; at namespace scope, once in a test program.
#define SHOVE_LEASE_CONTRACT(factory) \
    static const bool shove_lease_contract_registered = ::shove::testkit::register_lease_contract(factory)
